import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { ReadTables } from './store.ts'

/**
 * The records that a ledger gave out last, for as long as nobody else writes: what is one of them need not be read again.
 * It decides on no write. A record that says to be of some version, and was not given out, may never have been written.
 */
export interface Given {
  /** To be called before each reading: when somebody else has written since, all is forgotten. */
  follow(tables: ReadTables): void
  /** The same, unless it was done a moment ago: to ask the home costs more than all else that is done for one record. */
  followNowAndThen(tables: ReadTables): void
  add(record: LedgerRecord): LedgerRecord
  forget(key: Key): void
  /** Whether this very object is what the ledger gave out last for its key. */
  isLast(record: LedgerRecord): boolean
}

/** So long, in ms, what somebody else wrote may go unseen by a turn that decides: one that writes is refused. */
const MOMENT_MS = 100

/** @param monotonic milliseconds for measuring */
export function createGiven(monotonic: () => number): Given {
  const records = new Map<Key, LedgerRecord>()
  let followed: ReadTables | undefined
  let othersWrites: number | undefined
  let followedAt = -Infinity

  function follow(tables: ReadTables): void {
    followedAt = monotonic()
    const now = tables.othersWrites()
    // The number is one of a connection: another one starts anew.
    if (tables === followed && now === othersWrites) return
    followed = tables
    othersWrites = now
    records.clear()
  }

  return {
    follow,
    followNowAndThen(tables) {
      if (tables !== followed || monotonic() - followedAt >= MOMENT_MS) follow(tables)
    },
    add(record) {
      records.set(record.key, record)
      return record
    },
    forget: (key) => void records.delete(key),
    isLast: (record) => records.get(record.key) === record,
  }
}
