import type { JsonObject } from '../../src/lib/json.ts'
import { pipe } from '../reconcile/manifests.ts'

/** A line of manifests: one pipe as its owner thinks of it, through edits, renames and absences. */
export interface Line {
  readonly index: number
  /** Counts the pipes that this line was, one after another: a new one has nothing in common with the one before. */
  generation: number
  /** Whether `spec.name` is set; otherwise the pipe is called on the platform as its manifest is. */
  readonly isNamed: boolean
  readonly service: 'analytics' | 'billing'
  name: number
  file: number
  /** `metadata.name` before the last rename. */
  before: string | undefined
  replicas: number
  /** `flaw`: an unknown field. `break`: no YAML. */
  flaw: 'flaw' | 'break' | undefined
  present: boolean
  adopt: string | undefined
  retryCreate: string | undefined
  /** The id of its pipe, that somebody says is gone. */
  recreate: string | undefined
  renamedFrom: string | undefined
  replaces: string | undefined
  onMissing: 'recreate' | 'report' | undefined
  /** ms since the epoch. */
  suspendedUntil: number | undefined
  /** A line before this one. */
  dependsOn: number | undefined
}

export function newLine(index: number): Line {
  return {
    index,
    generation: 0,
    isNamed: index % 2 === 0,
    service: index < 3 ? 'analytics' : 'billing',
    name: 0,
    file: 0,
    before: undefined,
    replicas: 1,
    flaw: undefined,
    present: true,
    adopt: undefined,
    retryCreate: undefined,
    recreate: undefined,
    renamedFrom: undefined,
    replaces: undefined,
    onMissing: undefined,
    suspendedUntil: undefined,
    dependsOn: undefined,
  }
}

/** `metadata.name`. */
export function nameOfLine(line: Line): string {
  return `${identityOf(line)}-${line.name}`
}

/** What tells its pipes from those of other lines, whatever the name. */
export function identityOf({ index, generation }: Pick<Line, 'index' | 'generation'>): string {
  return generation === 0 ? `p${index}` : `p${index}g${generation}`
}

export function fileOf({ index, file }: Line): string {
  return `pipe-${index}-${file}.yaml`
}

export function textOf(line: Line, lines: readonly Line[]): string {
  if (line.flaw === 'break') return '{"apiVersion": "pipewright/v1", "kind": '
  return pipe(nameOfLine(line), {
    service: line.service,
    platformName: line.isNamed ? identityOf(line) : undefined,
    topics: identityOf(line),
    replicas: line.replicas,
    policy: policyOf(line, lines),
    more: line.flaw === undefined ? {} : { unknown: 1 },
  })
}

function policyOf(line: Line, lines: readonly Line[]): JsonObject {
  const { adopt, retryCreate, recreate, renamedFrom, replaces, onMissing, suspendedUntil, dependsOn } = line
  const needed = dependsOn === undefined ? undefined : lines[dependsOn]
  return {
    ...(adopt === undefined ? {} : { adopt }),
    ...(retryCreate === undefined ? {} : { retryCreate }),
    ...(recreate === undefined ? {} : { recreate }),
    ...(renamedFrom === undefined ? {} : { renamedFrom: `Pipe/${renamedFrom}` }),
    ...(replaces === undefined ? {} : { replaces: `Pipe/${replaces}` }),
    ...(onMissing === undefined ? {} : { onMissing }),
    ...(suspendedUntil === undefined
      ? {}
      : { suspend: { reason: 'a test', until: new Date(suspendedUntil).toISOString() } }),
    ...(needed === undefined ? {} : { dependsOn: [`Pipe/${nameOfLine(needed)}`] }),
  }
}
