import type { Key } from '../kinds/key.ts'
import type { StoredRecord } from './codec.ts'

/** What can be read of a backend, within one consistent view. */
export interface ReadTables {
  get(key: Key): StoredRecord | undefined
  /** Undefined where there is no record. */
  versionOf(key: Key): number | undefined
  /** In the order of their keys. */
  all(): readonly StoredRecord[]
  /** Newest first. */
  history(key: Key | undefined, limit: number): readonly { readonly key: string; readonly body: string }[]
  /** As `Ledger.versions`. */
  versions(): ReadonlyMap<Key, number>
  /** A number that changes when another connection has written. */
  othersWrites(): number
  /** The platform that its records are of. */
  platform(): string | undefined
  /** The profile that its records are of; undefined: the default one, or none yet. */
  profile(): string | undefined
  /** How often somebody has begun to act with it. */
  epoch(): number
  /** What its owner said last, as JSON. */
  activity(): string | undefined
  checkedAt(): ReadonlyMap<Key, number>
  /** Versions up to this one were given to records that are no longer there. */
  usedVersion(): number
  /** As `Ledger.movedAt`. */
  movedAt(): string | undefined
  /** How many writes there have been: it only ever grows. */
  writes(): number
}

/** What can be done within one transaction. Whoever calls checks everything before the first change. */
export interface WriteTables extends ReadTables {
  put(record: StoredRecord): void
  /** With when it was checked. */
  delete(key: Key): void
  setUsedVersion(version: number): void
  addHistory(key: Key, body: string): void
  setPlatform(platform: string | undefined): void
  setProfile(profile: string | undefined): void
  setEpoch(epoch: number): void
  setActivity(body: string): void
  setCheckedAt(key: Key, at: number): void
  setMovedAt(at: string): void
  setWrites(count: number): void
}

export type Room = 'free' | 'reserved'

/** Where records lie and how a transaction is made. The rules stand in `ledger-on-tables.ts`. */
export interface Store extends AsyncDisposable {
  /** @throws {LedgerError} */
  read<T>(work: (tables: ReadTables) => T): T
  /**
   * Runs `work` alone and makes it durable before it returns; nothing of it remains when it throws.
   * @param room whether it may use what was reserved; then `work` may run twice
   * @throws {LedgerError} and whatever `work` throws
   */
  write<T>(work: (tables: WriteTables) => T, room: Room): T
  /** As `Ledger.owned`. @throws {LedgerError} */
  owned(): boolean
  /** As `Ledger.prepareIntent`, by room on the disk. @throws {LedgerError} */
  reserveRoom(): void
}
