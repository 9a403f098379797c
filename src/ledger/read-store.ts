import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../reconcile/ports.ts'
import { inspect, readHashKey } from './inspect.ts'
import { statOf } from './location.ts'
import { isOwned } from './owner-lock.ts'
import { explain, sqliteCode } from './sqlite-fault.ts'
import { prepareReads } from './tables.ts'
import type { OpenedStore } from './write-store.ts'

/** SQLite's codes for a transaction that was cut short and cannot be undone without writing: READONLY, CANTOPEN. */
const READ_ONLY_MEDIUM: ReadonlySet<number> = new Set([8, 14])

/**
 * Opens a ledger that exists, and changes nothing on disk. Works beside a writer, and where nothing can be written; a file
 * that is put in its place is followed.
 * @throws {LedgerError}
 */
export function openReadStore(file: string, busyTimeoutMs: number): OpenedStore {
  let view = openView(file, busyTimeoutMs)

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
      write() {
        throw new LedgerError('io', `cannot write the ledger ${file}: it was opened to be read`)
      },
      owned: () => isOwned(file),
      reserveRoom() {
        throw new LedgerError('io', `cannot write the ledger ${file}: it was opened to be read`)
      },
      async [Symbol.asyncDispose]() {
        if (view.db.isOpen) view.db.close()
      },
    },
  }
}

type View = ReturnType<typeof openView>

function openView(file: string, busyTimeoutMs: number) {
  const state = stateOf(file)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs })
    if (inspect(db, file) === 'older') {
      throw new LedgerError(
        'io',
        `the ledger ${file} is of an older version: start \`pipewright run\` or \`apply\` once, which brings it up to date`,
      )
    }
    return { db, tables: prepareReads(db), hashKey: readHashKey(db, file), state }
  } catch (error) {
    db?.close()
    const isLocked = READ_ONLY_MEDIUM.has(sqliteCode(error) ?? 0) && statOf(`${file}-journal`) !== undefined
    throw isLocked ? cutShort(file, error) : explain('open', file, error)
  }
}

function cutShort(file: string, cause: unknown): LedgerError {
  return new LedgerError(
    'io',
    `cannot open the ledger ${file}: its last write was cut short, and its folder is read-only. Copy it, together with its ` +
      '-journal file, to a folder that is writable, and read it there.',
    { cause },
  )
}

/** Which file it is, whatever is in it. */
function stateOf(file: string): string | undefined {
  const stats = statOf(file)
  return stats && `${stats.dev}:${stats.ino}`
}
