import { z } from 'zod'
import type { Key } from '../kinds/key.ts'
import { LedgerError } from '../contract/ledger.ts'
import { decodeEntry, decodeRecord, type StoredRecord } from './codec.ts'

/** All that a ledger holds, to be put into another one. */
export interface Archive {
  readonly hashKey: Uint8Array
  readonly platform: string | undefined
  /** Undefined: the default one. */
  readonly profile: string | undefined
  /** Versions up to this one were given to records that are no longer there. */
  readonly usedVersion: number
  /** In the order of their keys. */
  readonly records: readonly StoredRecord[]
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
  records: z.int().min(0),
  history: z.int().min(0),
})

const RecordLine = z.strictObject({ key: z.string(), version: z.int().min(1), record: z.string() })
const HistoryLine = z.strictObject({ key: z.string(), history: z.string() })

/** As lines of JSON: a head, a line for each record, a line for each step of the history. */
export function archiveText({ hashKey, records, history, ...head }: Archive): string {
  const lines: unknown[] = [
    {
      pipewrightLedger: FORMAT,
      hashKey: Buffer.from(hashKey).toString('base64'),
      ...head,
      records: records.length,
      history: history.length,
    },
    ...records.map(({ key, version, body }) => ({ key, version, record: body })),
    ...history.map(({ key, body }) => ({ key, history: body })),
  ]
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
}

/** @param line from 0 */
function wrong(line: number, why: string): LedgerError {
  return new LedgerError('corrupt', `line ${line + 1} of the export ${why}. Nothing was imported.`)
}

/** @throws {LedgerError} `corrupt`, with the line: nothing of it is to be used */
export function readArchiveText(text: string): Archive {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const parsed = (at: number): unknown => {
    try {
      return JSON.parse(lines[at] ?? '')
    } catch {
      throw wrong(at, 'is no JSON')
    }
  }
  const head = Head.safeParse(parsed(0))
  if (!head.success) throw wrong(0, 'is not the head of an export of a ledger')
  const {
    records: recordCount,
    history: historyCount,
    hashKey: keyText,
    platform,
    profile,
    usedVersion,
  } = head.data
  const hashKey = Buffer.from(keyText, 'base64')
  if (hashKey.length !== 32) throw wrong(0, 'has no key for hashes')
  if (lines.length !== 1 + recordCount + historyCount)
    throw wrong(
      lines.length,
      `should be line ${1 + recordCount + historyCount}: some are missing, or too many`,
    )
  const records: StoredRecord[] = []
  for (let at = 1; at <= recordCount; at += 1) {
    const line = RecordLine.safeParse(parsed(at))
    if (!line.success) throw wrong(at, 'is no record')
    const { key, version, record: body } = line.data
    const stored = { key: key as Key, version, body } // the codec looks at it
    decodeRecord(stored)
    records.push(stored)
  }
  const history = lines.slice(1 + recordCount).map((_, index) => {
    const line = HistoryLine.safeParse(parsed(1 + recordCount + index))
    if (!line.success) throw wrong(1 + recordCount + index, 'is no step of the history')
    const { key, history: body } = line.data
    decodeEntry(key, body)
    return { key, body }
  })
  return { hashKey: new Uint8Array(hashKey), platform, profile, usedVersion, records, history }
}
