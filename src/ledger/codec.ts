import { z } from 'zod'
import type { Key } from '../kinds/key.ts'
import { isObject } from '../lib/json.ts'
import { storedCondition } from '../plan/condition.ts'
import { LedgerRecord } from '../plan/record.ts'
import { Activity } from '../contract/activity.ts'
import { HistoryEntry } from '../contract/history.ts'
import { LedgerError } from '../contract/ledger.ts'

/** Most bytes of one record: they are of a few kilobytes, so more is a mistake of ours (design §9). */
const MAX_RECORD_BYTES = 64 * 1_024

/** One record as a backend stores it. */
export interface StoredRecord {
  readonly key: Key
  readonly version: number
  /** JSON text. */
  readonly body: string
}

/**
 * @throws {Error} when the record is too large or could not be read back; that is a bug, and nothing is stored
 */
export function encodeRecord(record: LedgerRecord): StoredRecord {
  const body = JSON.stringify({ ...record, conditions: storedConditions(record) })
  const bytes = Buffer.byteLength(body)
  if (bytes > MAX_RECORD_BYTES) {
    throw new Error(`bug: the record of ${record.key} has ${bytes} bytes, more than ${MAX_RECORD_BYTES}`)
  }
  const reading = LedgerRecord.safeParse(JSON.parse(body))
  if (!reading.success)
    throw new Error(`bug: the record of ${record.key} is not one: ${issues(reading.error)}`)
  return { key: record.key, version: record.version, body }
}

function storedConditions({ conditions }: LedgerRecord): unknown {
  if (conditions === undefined) return undefined
  return Object.fromEntries(
    Object.entries(conditions).map(([type, condition]) => [type, storedCondition(condition)]),
  )
}

/** @throws {LedgerError} `corrupt`, naming the key */
export function decodeRecord(stored: StoredRecord): LedgerRecord {
  const reading = LedgerRecord.safeParse(migrated(parse(stored.body)))
  if (!reading.success) throw unreadable(`the record of ${stored.key}`, issues(reading.error))
  if (reading.data.key !== stored.key || reading.data.version !== stored.version) {
    throw unreadable(`the record of ${stored.key}`, 'its text is of another key or version')
  }
  return reading.data
}

/** A record of an earlier version, which remembered permissions to delete: only a request that was sent still counts. */
function migrated(body: unknown): unknown {
  if (!isObject(body)) return body
  const { onRemove, removal, ...rest } = body
  if (!isObject(removal)) return onRemove === undefined ? body : rest
  const { heldBy, isKept, ...mark } = removal
  const isEarlier = mark['digest'] === undefined || heldBy !== undefined || isKept !== undefined
  const isDropped = isEarlier && mark['isSent'] !== true
  return isDropped ? rest : { ...rest, removal: mark }
}

/** A record as text, of whatever version of the ledger. @throws {LedgerError} `corrupt`, naming the key */
export function storedRecord(key: Key, body: string): StoredRecord {
  const reading = z.object({ version: z.int() }).safeParse(parse(body))
  if (!reading.success) throw unreadable(`the record of ${key}`, issues(reading.error))
  return { key, version: reading.data.version, body }
}

export function encodeEntry(entry: HistoryEntry): string {
  return JSON.stringify(entry)
}

/** @throws {LedgerError} `corrupt`, naming the key */
export function decodeEntry(key: string, body: string): HistoryEntry {
  const reading = HistoryEntry.safeParse(parse(body))
  if (!reading.success) throw unreadable(`a history entry of ${key}`, issues(reading.error))
  return reading.data
}

/** What an earlier or later version said of itself may be left out: it is shown, and nothing depends on it. */
export function decodeActivity(body: string | undefined): Activity | undefined {
  return body === undefined ? undefined : Activity.safeParse(parse(body)).data
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined // the schema then says that it is not an object
  }
}

function issues(error: z.ZodError): string {
  return error.issues
    .slice(0, 3)
    .map((issue) => `${issue.path.join('.') || 'all of it'}: ${issue.message}`)
    .join('; ')
}

function unreadable(what: string, why: string): LedgerError {
  return new LedgerError(
    'corrupt',
    `${what} in the ledger cannot be read (${why}). It was damaged, edited by hand, or written by another version: ` +
      'restore the ledger from a backup; do not delete it.',
  )
}
