import type { ReadTables, WriteTables } from './tables.ts'

export type Room = 'free' | 'reserved'

/** Transactions of a backend; `ledger-on-tables.ts` has the rules. */
export interface Store extends AsyncDisposable {
  /** @throws {LedgerError} */
  read<T>(work: (tables: ReadTables) => T): T
  /**
   * Durable, or rolled back if `work` throws.
   * @param room whether `work` may use the reserve; if so, it might run twice
   * @throws {LedgerError} and errors of `work`
   */
  write<T>(work: (tables: WriteTables) => T, room: Room): T
  /** Runs a commit now, or later if commits are expensive. Other changes then join it. */
  soon(commit: () => void): void
  /** As `Ledger.owned`. @throws {LedgerError} */
  owned(): boolean
  /** As `Ledger.othersWrites`. Undefined: a lock keeps others out. */
  othersWrites?(): number
  /** As `Ledger.prepareIntent`: reserves disk space. */
  reserveRoom(): void
}
