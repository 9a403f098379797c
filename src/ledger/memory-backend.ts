import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Emit } from '../contract/events.ts'
import type { Ledger, OpenedLedger } from '../contract/ledger.ts'
import type { Store } from './backend.ts'
import { createLedger } from './ledger-on-tables.ts'
import { createSoleLeadership } from './sole-leadership.ts'
import { migrate, MIGRATIONS, transaction } from './table-schema.ts'
import { prepareWrites } from './tables.ts'

const HISTORY_LIMIT = 10_000

interface MemoryLedgerOptions {
  readonly emit: Emit
  /** 32 bytes. Default: random. */
  readonly hashKey?: Uint8Array
}

/** A ledger for tests and demos, lost with the process. */
export function createMemoryLedger(options: MemoryLedgerOptions): Ledger {
  return openMemoryLedger(options).ledger
}

/** As {@link createMemoryLedger}, with leadership. */
export function openMemoryLedger({ hashKey, emit }: MemoryLedgerOptions): OpenedLedger {
  const store = createMemoryStore()
  const ledger = createLedger({
    store,
    hashKey: hashKey ?? randomBytes(32),
    emit,
    clock: { monotonic: () => 0 },
  })
  return { ledger, leadership: createSoleLeadership(store), notes: undefined }
}

function createMemoryStore(): Store {
  const db = new DatabaseSync(':memory:')
  migrate(db, MIGRATIONS)
  let writes = 0
  const tables = prepareWrites(db, HISTORY_LIMIT)
  return {
    read: (work) => work(tables),
    write(work) {
      writes += 1
      return transaction(db, () => work(tables))
    },
    soon: (commit) => commit(),
    owned: () => true,
    // All writers share this connection, so each write can come from another writer.
    othersWrites: () => writes,
    reserveRoom: () => undefined,
    async [Symbol.asyncDispose]() {
      if (db.isOpen) db.close()
    },
  }
}
