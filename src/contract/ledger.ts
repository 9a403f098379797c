import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Activity } from './activity.ts'
import type { HistoryEntry, NewEntry } from './history.ts'
import type { Leadership } from './leadership.ts'

/** A write replaces one version of a record. It throws {@link LedgerConflict} if another write came first. */
export interface Ledger extends AsyncDisposable {
  /** 32 random bytes. The hashes of secrets and values in records are keyed with them. */
  readonly hashKey: Uint8Array
  /** ms by which this host's clock is ahead of the ledger's. Recorded times are by the ledger's clock. */
  readonly aheadMs: number
  /** When the records were moved to another ledger, ISO 8601. Since then, this ledger is read-only. */
  readonly movedAt?: string | undefined
  /** Why creates are refused. Set if the records were restored to an earlier state. */
  readonly rollback?: string | undefined
  /** Whether several processes can write. Then another process might still write the outcome of a create. */
  readonly isShared: boolean
  /** Records to read again: another process wrote them, or an own write failed. Each write sets a new object. */
  readonly toRead: Map<Key, object>
  /** Can return an outdated record, but a write of an outdated record fails. An unchanged record is the same object. */
  get(key: Key): Promise<LedgerRecord | undefined>
  /** Sorted by key. */
  list(): Promise<readonly LedgerRecord[]>
  /** The record whose last intent has this id. Might read all records. */
  withIntent(intentId: string): Promise<LedgerRecord | undefined>
  /**
   * Replaces version `next.version` (0: no record yet) and adds `history`, in one durable transaction.
   * @returns the record with its new version
   * @throws {LedgerConflict} the stored version differs, so no change was made
   * @throws {LedgerError} the write failed or its result is unknown
   */
  swap(next: LedgerRecord, history: readonly NewEntry[]): Promise<LedgerRecord>
  /** Like {@link swap}, for the outcome of a create. Can use the space that {@link assertCanSettle} reserved. */
  settle(next: LedgerRecord, history: readonly NewEntry[]): Promise<LedgerRecord>
  /** Replaces `from` by `to` in one transaction, for a rename. Throws like {@link swap}. */
  move(from: LedgerRecord, to: LedgerRecord, history: readonly NewEntry[]): Promise<LedgerRecord>
  remove(record: LedgerRecord, history: readonly NewEntry[]): Promise<void>
  /** Reserves space for the outcome, if the store can. @throws {LedgerError} the create must not be sent */
  assertCanSettle(): Promise<void>
  /** Writes what status commands show. Times are ms since the epoch. */
  noteActivity(activity: Activity, checkedAt: ReadonlyMap<Key, number>): Promise<void>
  /** `checkedAt`: when each key was checked. Undefined if only the daemon knows these times. */
  activity(): Promise<{
    readonly last: Activity | undefined
    readonly checkedAt: ReadonlyMap<Key, number> | undefined
  }>
  /** Newest first. */
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  /**
   * Calls `onWritten` soon after another process's write, and again if `onWritten` fails with a {@link LedgerError}.
   * @returns a function that ends the watch
   */
  watch(onWritten: () => Promise<void>): Promise<() => void>
  owned(): Promise<boolean>
}

export interface OpenedLedger {
  /** Disposing the ledger also releases leadership and notes. */
  readonly ledger: Ledger
  readonly leadership: Leadership
  readonly notes: Notes
}

/** Stores which notifications were sent. If the notes are lost, the notifications are sent again. */
export interface Notes {
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
}

export interface HistoryQuery {
  readonly key: Key | undefined
  /** At least 1. */
  readonly limit: number
}

export class LedgerConflict extends Error {
  constructor(key: Key, expected: number) {
    super(`the record of ${key} is no longer at version ${expected}: another write came first`)
    this.name = 'LedgerConflict'
  }
}

export class LedgerError extends Error {
  readonly code: 'locked' | 'corrupt' | 'newer' | 'missing' | 'platform' | 'moved' | 'io'

  constructor(code: LedgerError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LedgerError'
    this.code = code
  }
}
