import { z } from 'zod'
import type { Key } from '../kinds/key.ts'
import { LedgerError } from '../contract/ledger.ts'
import { decodeEntry, decodeRecord, type StoredRecord } from './codec.ts'

export interface Archive {
  readonly hashKey: Uint8Array
  readonly platform: string | undefined
  readonly profile: string | undefined
  /** The highest version of all removed records. New records get higher versions. */
  readonly usedVersion: number
  /** Ordered by key. */
  readonly records: readonly StoredRecord[]
  /** Keys of removed records, with their last versions. Empty for a ledger in a file, which has only `usedVersion`. */
  readonly forgotten: readonly z.infer<typeof ForgottenLine>[]
  /** Description of a detected rollback that was not accepted. */
  readonly rollback: string | undefined
  /** Oldest first. */
  readonly history: readonly { readonly key: string; readonly body: string }[]
}

const FORMAT = 1

const Head = z.strictObject({
  pipewrightLedger: z.literal(FORMAT),
  hashKey: z.string(),
  platform: z.string().optional(),
  profile: z.string().optional(),
  usedVersion: z.int().min(0),
  setBack: z.string().optional(),
  records: z.int().min(0),
  forgotten: z.int().min(0),
  history: z.int().min(0),
})

const RecordLine = z.strictObject({ key: z.string(), version: z.int().min(1), record: z.string() })
const ForgottenLine = z.strictObject({ key: z.string(), version: z.int().min(1) })
const HistoryLine = z.strictObject({ key: z.string(), history: z.string() })

/** @throws {LedgerError} `corrupt` */
export function archiveText({ hashKey, rollback, records, forgotten, history, ...head }: Archive): string {
  assertReadable({ records, history })
  const lines: unknown[] = [
    {
      pipewrightLedger: FORMAT,
      hashKey: Buffer.from(hashKey).toString('base64'),
      ...head,
      setBack: rollback,
      records: records.length,
      forgotten: forgotten.length,
      history: history.length,
    },
    ...records.map(({ key, version, body }) => ({ key, version, record: body })),
    ...forgotten,
    ...history.map(({ key, body }) => ({ key, history: body })),
  ]
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
}

function assertReadable({ records, history }: Pick<Archive, 'records' | 'history'>): void {
  for (const record of records) decodeRecord(record)
  for (const { key, body } of history) decodeEntry(key, body)
}

/** @param line zero-based */
function wrong(line: number, why: string): LedgerError {
  return new LedgerError(
    'corrupt',
    `line ${line + 1} of the export ${why}. No record was imported. Export the ledger again.`,
  )
}

/** @throws {LedgerError} `corrupt`, naming the first wrong line */
export function readArchiveText(text: string): Archive {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const parsed = (at: number): unknown => {
    try {
      return JSON.parse(lines[at] ?? '')
    } catch {
      throw wrong(at, 'is not JSON')
    }
  }
  const head = Head.safeParse(parsed(0))
  if (!head.success) throw wrong(0, 'is not the header of a ledger export')
  const counts = [head.data.records, head.data.forgotten, head.data.history] as const
  const { hashKey: keyText, platform, profile, usedVersion, setBack: rollback } = head.data
  const hashKey = new Uint8Array(Buffer.from(keyText, 'base64'))
  if (hashKey.length !== 32) throw wrong(0, 'has no hash key')
  const expected = counts.reduce((sum, count) => sum + count, 1)
  if (lines.length !== expected)
    throw wrong(lines.length - 1, `is the end, but the header counts ${expected} lines`)
  let next = 1
  const read = <T>(count: number, shape: z.ZodType<T>, what: string): T[] =>
    Array.from({ length: count }, () => {
      const line = shape.safeParse(parsed(next))
      if (!line.success) throw wrong(next, `is not a ${what}`)
      next += 1
      return line.data
    })
  const records = read(counts[0], RecordLine, 'record').map(
    ({ key, version, record: body }): StoredRecord => ({ key: key as Key, version, body }), // checked below
  )
  const forgotten = read(counts[1], ForgottenLine, 'forgotten key')
  const history = read(counts[2], HistoryLine, 'history entry').map(({ key, history: body }) => ({
    key,
    body,
  }))
  assertReadable({ records, history })
  return { hashKey, platform, profile, usedVersion, forgotten, rollback, records, history }
}
