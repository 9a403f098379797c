import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { ReadTables } from './store.ts'

/**
 * The records that a ledger gave out last, for as long as nobody else writes: what is one of them need not be read again.
 * It decides on no write. A record that says to be of some version, and was not given out, may never have been written.
 */
export interface Given {
  /** To be called before each reading: when somebody else has written since the last call, all is forgotten. */
  follow(tables: ReadTables): void
  add(record: LedgerRecord): LedgerRecord
  forget(key: Key): void
  /** Whether this very object is what the ledger gave out last for its key. */
  isLast(record: LedgerRecord): boolean
}

export function createGiven(): Given {
  const records = new Map<Key, LedgerRecord>()
  let followed: ReadTables | undefined
  let othersWrites: number | undefined
  return {
    follow(tables) {
      const now = tables.othersWrites()
      // The number is one of a connection: another one starts anew.
      if (tables === followed && now === othersWrites) return
      followed = tables
      othersWrites = now
      records.clear()
    },
    add(record) {
      records.set(record.key, record)
      return record
    },
    forget: (key) => void records.delete(key),
    isLast: (record) => records.get(record.key) === record,
  }
}
