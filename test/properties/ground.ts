import { endpoint, lock, OTHER_SERVICE_ID, service, SERVICE_ID } from '../reconcile/manifests.ts'
import type { GroundCommand } from './commands.ts'
import type { Line } from './lines.ts'
import { fileOf, nameOfLine, textOf } from './lines.ts'

/** Where the manifest of `analytics` says it is, when it says something else. */
const MOVED_ID = '22222222-3333-4444-8555-666666666666'

/** The directory of manifests, as those think who write it. */
export interface Ground {
  /** Whether the manifest of `analytics` has an error. */
  readonly isFlawed: boolean
  /** Index of a line → the id of its pipe, as a Lock says. */
  readonly locks: Map<number, string>
  /** The pipe that a Lock names for a line, as far as it can be read. */
  lockedId(line: Line): string | undefined
  /** Changes a file that is no line's. */
  change(command: GroundCommand): void
  /** Nothing is wrong any more. */
  mend(): void
  /** Writes down all of it. */
  write(): void
  /** `serviceId` of a line, as the manifests say now. */
  serviceIdOf(line: Line): string
}

export function createGround(files: Map<string, string>, lines: readonly Line[]): Ground {
  /** Whether it names another service than before. */
  let isMoved = false
  /** Whether the file of the Lock is cut off. */
  let isLockBroken = false
  let isFlawed = false
  const ground: Ground = {
    get isFlawed() {
      return isFlawed
    },
    lockedId: ({ index }) => (isLockBroken ? undefined : ground.locks.get(index)),
    change(command) {
      if (command === 'service-flaw' || command === 'service-mend') isFlawed = command === 'service-flaw'
      else if (command === 'service-move' || command === 'service-back') isMoved = command === 'service-move'
      else isLockBroken = command === 'lock-break'
    },
    mend() {
      isFlawed = false
      isMoved = false
      isLockBroken = false
    },
    locks: new Map(),
    serviceIdOf({ service: name }) {
      if (name === 'billing') return OTHER_SERVICE_ID
      return isMoved ? MOVED_ID : SERVICE_ID
    },
    write() {
      const moved = service('analytics', isMoved ? MOVED_ID : SERVICE_ID)
      const text = { 'service.yaml': isFlawed ? '{"kind": "Service"' : moved }
      const next = new Map<string, string>(Object.entries(text))
      next.set('billing.yaml', service('billing', OTHER_SERVICE_ID))
      next.set('endpoint.yaml', endpoint('analytics'))
      const locked = [...ground.locks].flatMap(([index, id]) => {
        const line = lines[index]
        return line === undefined ? [] : [[`Pipe/${nameOfLine(line)}`, id] as const]
      })
      if (locked.length > 0) next.set('pipes.lock.yaml', lock(Object.fromEntries(locked)))
      if (isLockBroken) next.set('pipes.lock.yaml', '<<<<<<< HEAD\n')
      for (const line of lines) if (line.present) next.set(fileOf(line), textOf(line, lines))
      files.clear()
      for (const [file, content] of next) files.set(file, content)
    },
  }
  return ground
}
