import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../contract/ledger.ts'
import { inspect, readHashKey } from './table-schema.ts'
import { statOf } from './location.ts'
import { isOwned } from './lease.ts'
import { explain, sqliteCode } from './sqlite-fault.ts'
import { prepareReads } from './tables.ts'
import type { OpenedStore } from './write-store.ts'

/** SQLite codes READONLY and CANTOPEN: an interrupted transaction needs a rollback, which writes. */
const NEEDS_WRITING: ReadonlySet<number> = new Set([8, 14])

/**
 * Works beside a writer and on a read-only volume. Rolls back the transaction of a killed writer. Follows a
 * replaced file.
 * @throws {LedgerError}
 */
export function openReadStore(file: string, busyTimeoutMs: number): OpenedStore {
  let view = openView(file, busyTimeoutMs)

  function refuseToWrite(): never {
    throw new LedgerError('io', `cannot write the ledger ${file}: it was opened read-only`)
  }

  function current(): View {
    const state = stateOf(file)
    if (state === view.state) return view
    view.db.close()
    view = openView(file, busyTimeoutMs)
    return view
  }

  return {
    hashKey: view.hashKey,
    store: {
      read(work) {
        try {
          return work(current().tables)
        } catch (error) {
          throw explain('read', file, error)
        }
      },
      write: refuseToWrite,
      soon: (commit) => commit(),
      owned: () => isOwned(file),
      reserveRoom: refuseToWrite,
      async [Symbol.asyncDispose]() {
        if (view.db.isOpen) view.db.close()
      },
    },
  }
}

type View = ReturnType<typeof openView>

function openView(file: string, busyTimeoutMs: number) {
  try {
    try {
      return readView(file, busyTimeoutMs)
    } catch (error) {
      if (!isCutShort(file, error)) throw error
      undo(file, busyTimeoutMs)
      return readView(file, busyTimeoutMs)
    }
  } catch (error) {
    throw isCutShort(file, error) ? cutShort(file, error) : explain('open', file, error)
  }
}

function readView(file: string, busyTimeoutMs: number) {
  const state = stateOf(file)
  const db = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs })
  try {
    if (inspect(db, file) === 'older') {
      throw new LedgerError(
        'io',
        `the ledger ${file} is of an older version: start \`pipewright run\` or \`apply\` once, which brings it up to date`,
      )
    }
    return { db, tables: prepareReads(db), hashKey: readHashKey(db, file), state }
  } catch (error) {
    db.close()
    throw error
  }
}

function isCutShort(file: string, error: unknown): boolean {
  return NEEDS_WRITING.has(sqliteCode(error) ?? 0) && statOf(`${file}-journal`) !== undefined
}

/** SQLite rolls back the transaction of a killed writer on a writer's first read. */
function undo(file: string, busyTimeoutMs: number): void {
  using db = new DatabaseSync(file, { timeout: busyTimeoutMs })
  db.prepare('PRAGMA schema_version').get()
}

function cutShort(file: string, cause: unknown): LedgerError {
  return new LedgerError(
    'io',
    `cannot open the ledger ${file}: its last write was cut short, and nothing can be written there to undo it. Copy it, together ` +
      'with its -journal file, to a folder that is writable, and read it there.',
    { cause },
  )
}

/** Identity of the file, regardless of its content. */
function stateOf(file: string): string | undefined {
  const stats = statOf(file)
  return stats && `${stats.dev}:${stats.ino}`
}
