import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Activity, ActivityReading } from './activity.ts'
import type { HistoryEntry } from './history.ts'
import type { Leadership } from './leadership.ts'

/** The durable memory (design §9). Compare-and-set; whoever loses gets a {@link LedgerConflict}. */
export interface Ledger extends AsyncDisposable {
  /** Random, made with the ledger; keys the hashes of secrets. 32 bytes. */
  readonly hashKey: Uint8Array
  /**
   * How far the wall clock of this host is ahead of the one that all go by who work with the ledger, ms: what one of them has noted is
   * waited for by another one. 0 where all are on one host.
   */
  readonly aheadMs: number
  /** When it was moved into another ledger, as ISO 8601 says it: then it can only be read. Undefined: it was not. */
  readonly movedAt?: string | undefined
  /** Why nothing is created with it, in words: its records were put back to an earlier state, as far as is known without asking. */
  readonly putBack?: string | undefined
  /** Pipes that were lost by that, and that it does not hold by now: unless each is adopted, it is created a second time. In the order of their keys. */
  readonly missingPipes?: readonly MissingPipe[]
  /**
   * As it was when asked, or a moment before: a write on top of an older version is refused, and from then on it is seen.
   * @param known as this ledger gave it before; it is returned itself when it still is the record
   */
  get(key: Key, known?: LedgerRecord): Promise<LedgerRecord | undefined>
  /** All records, in the order of their keys. */
  list(): Promise<readonly LedgerRecord[]>
  /**
   * The record whose last attempt has this id, whatever its key is by now: it may have moved. As it is now, also when another process
   * wrote it; all records may have to be read for that.
   * @throws {LedgerError}
   */
  withIntent(intentId: string): Promise<LedgerRecord | undefined>
  /**
   * Replaces the record whose version is `next.version` (0: there must be none) by `next` with the version
   * after it, and adds `history`, in one transaction that is durable when the promise is fulfilled.
   * @returns the record as written
   * @throws {LedgerConflict} when the version is another one; nothing was written
   * @throws {LedgerError} when it could not be written; nothing is known to have been written
   */
  swap(next: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord>
  /** As {@link swap}, for what became of a create: it is written where another one may find no room any more. */
  settle(next: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord>
  /** As {@link swap}, for two records in one transaction: a record that moves to another key. */
  move(from: LedgerRecord, to: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord>
  /** Forgets a record; the same compare-and-set. */
  remove(record: LedgerRecord, history: readonly HistoryEntry[]): Promise<void>
  /**
   * To be called before each intent: makes sure, where it can, that what becomes of the create can be written.
   * @throws {LedgerError} nothing may be created
   */
  prepareIntent(): Promise<void>
  /**
   * Says that its owner lives, and when it last read which resources: ms since the epoch. One transaction, for status only.
   * @throws {LedgerError}
   */
  noteActivity(activity: Activity, checkedAt: ReadonlyMap<Key, number>): Promise<void>
  activity(): Promise<ActivityReading>
  /** Newest first. */
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  /**
   * Calls `onWritten` soon after somebody else, such as a person's command, has written; what it was, {@link versions} tells.
   * When that fails with a {@link LedgerError}, it is called again.
   * @returns ends it
   * @throws {LedgerError}
   */
  watch(onWritten: () => Promise<void>): Promise<() => void>
  /** The version of every record, without reading the records: what to compare with after somebody else has written. */
  versions(): Promise<ReadonlyMap<Key, number>>
  /**
   * A number that grows when somebody else, such as a person's command, has written, and when a write of one's own has failed,
   * since nobody knows then what of it is there. Cheap.
   */
  othersWrites(): Promise<number>
  /** Whether an owner, the daemon or `apply`, works with it at this moment; true for the owner itself. */
  owned(): Promise<boolean>
}

/** A pipe that the ledger held before it was put back to an earlier state. */
export interface MissingPipe {
  readonly key: Key
  /** Undefined: it was being created. */
  readonly id: string | undefined
  /** By which a person says which pipe it was. */
  readonly command: string
}

/** A ledger, and who acts with it. */
export interface OpenedLedger {
  /** Released with all that belongs to it. */
  readonly ledger: Ledger
  readonly leadership: Leadership
  /** Where notes are kept that outlive the process; undefined: in files beside the ledger. */
  readonly notes: Notes | undefined
}

/** Small texts, by name. To lose them costs repetitions, and nothing else. */
export interface Notes {
  /** @throws {LedgerError} */
  read(name: 'sentState'): Promise<string | undefined>
  /** @throws {LedgerError} */
  write(name: 'sentState', text: string): Promise<void>
}

export interface HistoryQuery {
  readonly key: Key | undefined
  /** From 1. */
  readonly limit: number
}

/** Somebody else wrote the record first. Read it again and decide anew. */
export class LedgerConflict extends Error {
  constructor(key: Key, expected: number) {
    super(`the record of ${key} is no longer at version ${expected}`)
    this.name = 'LedgerConflict'
  }
}

/** The ledger cannot be used: locked, corrupt, newer than this program, of another platform, moved, or not writable. The message says which. */
export class LedgerError extends Error {
  readonly code: 'locked' | 'corrupt' | 'newer' | 'missing' | 'platform' | 'moved' | 'io'

  constructor(code: LedgerError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LedgerError'
    this.code = code
  }
}
