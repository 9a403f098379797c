import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../reconcile/ports.ts'
import { inspect, readHashKey } from './inspect.ts'
import { statOf } from './location.ts'
import { isOwned } from './owner-lock.ts'
import { MIGRATIONS, migrate, transaction } from './schema.ts'
import { explain } from './sqlite-fault.ts'
import type { Store } from './store.ts'
import { prepareWrites } from './tables.ts'

/** A store with the key that the ledger was made with. */
export interface OpenedStore {
  readonly store: Store
  readonly hashKey: Uint8Array
}

interface WriteStoreOptions {
  readonly file: string
  readonly busyTimeoutMs: number
  readonly historyLimit: number
  /** Called before an older ledger is changed, which nobody may use meanwhile. */
  readonly beforeMigration: () => void
  /** For tests; throws as SQLite does. */
  readonly beforeCommit: (() => void) | undefined
}

/** Opens a ledger that exists, to read and write. @throws {LedgerError} */
export function openWriteStore(options: WriteStoreOptions): OpenedStore {
  const { file } = options
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { timeout: options.busyTimeoutMs })
    if (inspect(db, file) === 'older') {
      options.beforeMigration()
      migrate(db, MIGRATIONS)
    }
    makeDurable(db, file)
    return { store: createWriteStore(db, options), hashKey: readHashKey(db, file) }
  } catch (error) {
    db?.close()
    throw explain('open', file, error)
  }
}

/** Every commit is on disk when it returns. */
function makeDurable(db: DatabaseSync, file: string): void {
  if (db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'] !== 'wal') {
    throw new LedgerError(
      'io',
      `cannot open the ledger ${file}: its file system cannot keep a write-ahead log; put it on a local disk or volume`,
    )
  }
  db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA journal_size_limit = 16777216')
}

function createWriteStore(db: DatabaseSync, { file, historyLimit, beforeCommit }: WriteStoreOptions): Store {
  const tables = prepareWrites(db, historyLimit)
  const identity = identityOf(file)

  /** A file that was removed or replaced takes every write and keeps none: nothing would be durable. */
  function assertInPlace(): void {
    if (identityOf(file) !== identity) {
      throw new LedgerError(
        'io',
        `cannot write the ledger ${file}: it was removed or replaced while in use. Stop this process, put the right ` +
          'file (with its -wal file, if there is one) in place, and start again.',
      )
    }
  }

  return {
    read(work) {
      try {
        return work(tables)
      } catch (error) {
        throw explain('read', file, error)
      }
    },
    write(work) {
      try {
        assertInPlace()
        return transaction(db, () => {
          const result = work(tables)
          beforeCommit?.()
          return result
        })
      } catch (error) {
        throw explain('write', file, error)
      }
    },
    owned: () => isOwned(file),
    async [Symbol.asyncDispose]() {
      if (db.isOpen) db.close()
    },
  }
}

function identityOf(file: string): string | undefined {
  const stats = statOf(file)
  return stats && `${stats.dev}:${stats.ino}`
}
