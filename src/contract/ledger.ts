import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Activity } from './activity.ts'
import type { HistoryEntry, NewEntry } from './history.ts'
import type { Leadership } from './leadership.ts'

/** Writes use compare-and-set. A lost race throws {@link LedgerConflict}. */
export interface Ledger extends AsyncDisposable {
  /** 32 random bytes. Keys the hashes of secrets. */
  readonly hashKey: Uint8Array
  /** This host's wall clock ahead of the ledger's, ms. Add it to waits for another process's times. */
  readonly aheadMs: number
  /** ISO 8601. The ledger was moved and is read-only. */
  readonly movedAt?: string | undefined
  /** Why creates are refused: the records are at an earlier state. */
  readonly rollback?: string | undefined
  /** Another process might still write the outcome of a create. */
  readonly isShared: boolean
  /** Can be outdated: a write on top fails, and later reads are newer. @param known returned if current */
  get(key: Key, known?: LedgerRecord): Promise<LedgerRecord | undefined>
  /** Sorted by key. */
  list(): Promise<readonly LedgerRecord[]>
  /** The last attempt with this id. Might read all records. @throws {LedgerError} */
  withIntent(intentId: string): Promise<LedgerRecord | undefined>
  /**
   * Replaces version `next.version` (0: none) and adds `history` in one durable transaction.
   * @returns the record with its new version
   * @throws {LedgerConflict} if the version differs; unchanged
   * @throws {LedgerError} the write failed or its result is unknown
   */
  swap(next: LedgerRecord, history: readonly NewEntry[]): Promise<LedgerRecord>
  /** As {@link swap}, for the outcome of a create. Uses room that other writes leave free. */
  settle(next: LedgerRecord, history: readonly NewEntry[]): Promise<LedgerRecord>
  /** As {@link swap}, for two records in one transaction: a rename. */
  move(from: LedgerRecord, to: LedgerRecord, history: readonly NewEntry[]): Promise<LedgerRecord>
  /** As {@link swap}, but removes the record. */
  remove(record: LedgerRecord, history: readonly NewEntry[]): Promise<void>
  /** Reserves room for the outcome, where possible. @throws {LedgerError} creates are blocked */
  prepareIntent(): Promise<void>
  /** For status only. Times are ms since the epoch. @throws {LedgerError} */
  noteActivity(activity: Activity, checkedAt: ReadonlyMap<Key, number>): Promise<void>
  /** `checkedAt`: undefined if only the owner knows. */
  activity(): Promise<{
    readonly last: Activity | undefined
    readonly checkedAt: ReadonlyMap<Key, number> | undefined
  }>
  /** Newest first. */
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  /**
   * Calls `onWritten` soon after another process's write, and again if it fails with a {@link LedgerError}.
   * @returns ends the watch
   * @throws {LedgerError}
   */
  watch(onWritten: () => Promise<void>): Promise<() => void>
  /** Reads no records. */
  versions(): Promise<ReadonlyMap<Key, number>>
  /** Grows after another process's write and after an own write with unknown result. Cheap. */
  othersWrites(): Promise<number>
  /** Whether the daemon or `apply` owns it. True for the owner itself. */
  owned(): Promise<boolean>
}

export interface OpenedLedger {
  /** Disposing it also releases leadership and notes. */
  readonly ledger: Ledger
  readonly leadership: Leadership
  readonly notes: Notes
}

/** Sent notifications. Their loss only causes repetition. */
export interface Notes {
  /** @throws {LedgerError} */
  read(): Promise<string | undefined>
  /** @throws {LedgerError} */
  write(text: string): Promise<void>
}

export interface HistoryQuery {
  readonly key: Key | undefined
  /** At least 1. */
  readonly limit: number
}

/** A lost race: read and decide again. */
export class LedgerConflict extends Error {
  constructor(key: Key, expected: number) {
    super(`the record of ${key} is no longer at version ${expected}`)
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
