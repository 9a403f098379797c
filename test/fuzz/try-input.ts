import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { textIn } from '../../src/manifest/validate/parse-file.ts'
import { createFindingRoom } from '../../src/manifest/validate/parse-document.ts'
import { pictureOf } from '../../src/manifest/diagnostics/diagnostic.ts'
import { createPlaces } from '../../src/manifest/rules/source-locator.ts'
import { nextCatalog, parseFile } from '../support/at-once.ts'

/** What must not be. */
export interface Trouble {
  /** `nowhere`: a finding without a file, a line or a word; or outside of the text. */
  readonly what: 'crash' | 'hang' | 'nowhere'
  readonly detail: string
}

/** Milliseconds of this thread's CPU that one file may take: a busy machine makes no hang. */
const LIMIT = 1_000

/** Reads one file as the only one of a directory, up to the pictures of its findings. */
export function tryInput(bytes: Buffer): {
  readonly troubles: readonly Trouble[]
  readonly findings: number
  readonly duration: number
} {
  const troubles: Trouble[] = []
  let count = 0
  const started = cpuMs()
  try {
    const findings = findingsOf(bytes)
    count = findings.length
    const lines = bytes.toString('utf8').split('\n').length
    for (const finding of findings) {
      const { file, line, column, endColumn, message, hint } = finding
      const isThere = file === FILE && line >= 1 && line <= lines && column >= 1 && endColumn > column
      const says = message !== '' && hint !== '' && pictureOf(finding).startsWith(`${file}:${line}:${column}`)
      if (!isThere || !says) troubles.push({ what: 'nowhere', detail: JSON.stringify(finding) })
    }
  } catch (error) {
    troubles.push({
      what: 'crash',
      detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
  }
  const duration = cpuMs() - started
  if (duration > LIMIT) troubles.push({ what: 'hang', detail: `${duration.toFixed(0)} ms` })
  return { troubles, findings: count, duration }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const FILE = 'fuzz.yaml'

function findingsOf(bytes: Buffer) {
  const parsed = parseFile(
    { file: FILE, hash: '', bytes },
    { profile: DEFAULT, limits: DEFAULT_LIMITS, room: createFindingRoom() },
  )
  const reading = {
    revision: { id: 'fuzz', from: 'content' },
    files: new Map([[FILE, parsed]]),
    findings: [],
    unread: [],
    problem: undefined,
  } as const
  const places = createPlaces(() => textIn(bytes))
  return nextCatalog({ previous: undefined, reading, recorded: new Map(), places, accept: 'normal' }).catalog
    .findings
}
