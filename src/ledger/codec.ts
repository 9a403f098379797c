import type { z } from 'zod'
import type { Key } from '../kinds/key.ts'
import { parseJson } from '../lib/json.ts'
import { LedgerRecord } from '../plan/record.ts'
import { Activity } from '../contract/activity.ts'
import { HistoryEntry } from '../contract/history.ts'
import { LedgerError } from '../contract/ledger.ts'

const MAX_RECORD_BYTES = 64 * 1_024

export interface StoredRecord {
  readonly key: Key
  readonly version: number
  /** JSON. */
  readonly body: string
}

/** @throws {Error} if the record is too large or cannot be read back (a bug) */
export function encodeRecord(record: LedgerRecord): StoredRecord {
  const body = JSON.stringify(record)
  const bytes = Buffer.byteLength(body)
  if (bytes > MAX_RECORD_BYTES) {
    throw new Error(`bug: the record of ${record.key} has ${bytes} bytes, more than ${MAX_RECORD_BYTES}`)
  }
  const reading = LedgerRecord.safeParse(JSON.parse(body))
  if (!reading.success)
    throw new Error(`bug: the record of ${record.key} is not valid: ${issues(reading.error)}`)
  return { key: record.key, version: record.version, body }
}

/** @throws {LedgerError} `corrupt`, naming the key */
export function decodeRecord(stored: StoredRecord): LedgerRecord {
  const reading = LedgerRecord.safeParse(parseJson(stored.body))
  if (!reading.success) throw unreadable(`the record of ${stored.key}`, issues(reading.error))
  if (reading.data.key !== stored.key || reading.data.version !== stored.version) {
    throw unreadable(`the record of ${stored.key}`, 'the key or version in its text is wrong')
  }
  return reading.data
}

export function decodeEntry(key: string, body: string): HistoryEntry {
  const reading = HistoryEntry.safeParse(parseJson(body))
  if (!reading.success) throw unreadable(`a history entry of ${key}`, issues(reading.error))
  return reading.data
}

/** Returns undefined if `body` is invalid. This is no error, because an activity is only displayed. */
export function decodeActivity(body: string | undefined): Activity | undefined {
  return body === undefined ? undefined : Activity.safeParse(parseJson(body)).data
}

function issues(error: z.ZodError): string {
  return error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.join('.') || 'the whole'}: ${issue.message}`)
    .join('; ')
}

function unreadable(what: string, why: string): LedgerError {
  return new LedgerError(
    'corrupt',
    `${what} in the ledger cannot be read (${why}). It was damaged, edited by hand, or written by another version. ` +
      'Do not delete the ledger. Restore it from a backup.',
  )
}
