import { z } from '../kinds/zod.ts'
import type { Notes } from '../contract/ledger.ts'
import type { Key } from '../kinds/key.ts'
import { knownKey } from '../kinds/lookup.ts'
import { CONDITION_TYPES } from '../plan/condition.ts'
import { parseReason, type Reason } from '../plan/reason.ts'
import { SEVERITIES, STATUSES } from '../plan/severity.ts'
import { open, readFile, rename, rm } from 'node:fs/promises'

/** Also by a name of before. */
const KnownReason = z
  .custom<Reason>((text) => parseReason(text) !== undefined)
  .transform((text) => parseReason(text) ?? text)

/** A problem that was sent to a target and was not over with the last message. */
export const SentAlert = z.strictObject({
  /** As in `alert-state.ts`. */
  state: z.string(),
  status: z.enum(STATUSES),
  condition: z.enum(CONDITION_TYPES),
  reason: KnownReason,
  severity: z.enum(SEVERITIES),
})
export type SentAlert = Readonly<z.infer<typeof SentAlert>>

/** What was sent to one target; all else that it is notified about is well. Never a secret: no message, no address. */
export interface SentState {
  readonly alerts: ReadonlyMap<Key, SentAlert>
  /** Pipes that were created until then are sent: ms since the epoch. */
  readonly createdUntil: number
}

/** The file; `told` is what its first version called the alerts. */
const Document = z.strictObject({
  version: z.literal(1),
  targets: z.record(
    z.string(),
    z.strictObject({ createdUntil: z.number(), told: z.record(z.string(), SentAlert) }),
  ),
})

/** @returns `undefined` when the text is not what {@link writeSentStates} wrote */
export function readSentStates(text: string): ReadonlyMap<string, SentState> | undefined {
  const { data } = Document.safeParse(jsonOf(text))
  if (data === undefined) return undefined
  return new Map(
    Object.entries(data.targets).map(([target, { createdUntil, told }]) => [
      target,
      { createdUntil, alerts: new Map(Object.entries(told).flatMap(([name, one]) => pairOf(name, one))) },
    ]),
  )
}

export function writeSentStates(targets: ReadonlyMap<string, SentState>): string {
  const entries = [...targets].map(([name, { createdUntil, alerts }]) => [
    name,
    { createdUntil, told: Object.fromEntries([...alerts].toSorted(([a], [b]) => (a < b ? -1 : 1))) },
  ])
  return `${JSON.stringify({ version: 1, targets: Object.fromEntries(entries) })}\n`
}

function pairOf(text: string, alert: SentAlert): readonly (readonly [Key, SentAlert])[] {
  const key = knownKey(text)
  return key === undefined ? [] : [[key, alert]]
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What was sent, for the next start. */
export interface SentStateFile {
  /** What the last process sent; `undefined`: there was none. */
  readonly before: ReadonlyMap<string, SentState> | undefined
  /** Replaces what is kept, whole. @throws what the file system throws */
  save(targets: ReadonlyMap<string, SentState>): Promise<void>
  /** Why what is there is not used; it is replaced. */
  readonly unusable: string | undefined
}

/** A file beside the ledger. To lose it costs repetitions, and nothing else. */
export async function openSentStateFile(file: string): Promise<SentStateFile> {
  const save = async (targets: ReadonlyMap<string, SentState>) => replace(file, writeSentStates(targets))
  let text
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return { before: undefined, unusable: undefined, save }
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return { before: undefined, unusable: `${file} cannot be read (${code})`, save }
  }
  const before = readSentStates(text)
  return {
    before,
    unusable: before === undefined ? `${file} is damaged, or of another version` : undefined,
    save,
  }
}

/** The same, where a ledger keeps notes. @throws {LedgerError} */
export async function openSentStateNote(notes: Notes): Promise<SentStateFile> {
  const save = (targets: ReadonlyMap<string, SentState>) => notes.write('sentState', writeSentStates(targets))
  const text = await notes.read('sentState')
  const before = text === undefined ? undefined : readSentStates(text)
  const isUnusable = text !== undefined && before === undefined
  return { before, unusable: isUnusable ? 'it is damaged, or of another version' : undefined, save }
}

/** Without a ledger that lasts there is nothing to compare with at the next start. */
export function noSentStateFile(): SentStateFile {
  return { before: undefined, unusable: undefined, save: async () => undefined }
}

/** Whoever reads it sees the old or the new, also after a crash. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.next`
  try {
    {
      await using handle = await open(next, 'w', 0o600)
      await handle.writeFile(text)
      await handle.sync()
    }
    await rename(next, file)
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
