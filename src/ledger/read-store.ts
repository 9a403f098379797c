import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { LedgerError } from '../reconcile/ports.ts'
import { inspect, readHashKey } from './inspect.ts'
import { statOf } from './location.ts'
import { isOwned } from './owner-lock.ts'
import { explain, sqliteCode } from './sqlite-fault.ts'
import type { ReadTables } from './store.ts'
import { prepareReads } from './tables.ts'
import type { OpenedStore } from './write-store.ts'

/** How often a read starts over when the file changes under it, before we give up. */
const ATTEMPTS = 20

const SHARED = 'shared'

/** SQLite's codes for a write-ahead log that it cannot read without writing: READONLY, CANTOPEN. */
const READ_ONLY_MEDIUM: ReadonlySet<number> = new Set([8, 14])

interface View {
  readonly db: DatabaseSync
  readonly tables: ReadTables
  readonly hashKey: Uint8Array
  /** What the file was when it was opened, or `shared`: SQLite itself sees to what others write. */
  readonly state: string
}

/**
 * Opens a ledger that exists, and changes nothing on disk.
 *
 * When something was written that is not yet in the file itself, it is in the `-wal` file, and SQLite lets us read
 * both, also beside a writer. Otherwise the file is opened as immutable, since SQLite would leave `-wal` and `-shm`
 * files behind; then nobody tells us when a writer comes, and each read checks that nothing changed, or starts over.
 *
 * @throws {LedgerError}
 */
export function openReadStore(file: string, busyTimeoutMs: number): OpenedStore {
  let view = openView(file, busyTimeoutMs)

  function read<T>(work: (tables: ReadTables) => T): T {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (view.state !== stateOf(file)) {
        view.db.close()
        view = openView(file, busyTimeoutMs)
      }
      try {
        const result = work(view.tables)
        if (view.state === stateOf(file)) return result
      } catch (error) {
        if (view.state === stateOf(file)) throw explain('read', file, error)
      }
    }
    throw new LedgerError('io', `cannot read the ledger ${file}: it keeps changing; try again`)
  }

  return {
    hashKey: view.hashKey,
    store: {
      read,
      write() {
        throw new LedgerError('io', `cannot write the ledger ${file}: it was opened to be read`)
      },
      owned: () => isOwned(file),
      async [Symbol.asyncDispose]() {
        if (view.db.isOpen) view.db.close()
      },
    },
  }
}

function openView(file: string, busyTimeoutMs: number): View {
  for (let attempt = 1; ; attempt++) {
    const state = stateOf(file)
    try {
      return open(file, state, busyTimeoutMs)
    } catch (error) {
      if (attempt < ATTEMPTS && state !== stateOf(file)) continue
      throw state === SHARED && READ_ONLY_MEDIUM.has(sqliteCode(error) ?? 0)
        ? unreadableLog(file, error)
        : explain('open', file, error)
    }
  }
}

function open(file: string, state: string, busyTimeoutMs: number): View {
  const url = pathToFileURL(file)
  if (state !== SHARED) url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true, timeout: busyTimeoutMs })
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

function unreadableLog(file: string, cause: unknown): LedgerError {
  return new LedgerError(
    'io',
    `cannot open the ledger ${file}: it was not closed properly, and its folder is read-only. Copy it, together ` +
      'with its -wal file, to a folder that is writable, and read it there.',
    { cause },
  )
}

function stateOf(file: string): string {
  const wal = statOf(`${file}-wal`)
  if (wal !== undefined && wal.size > 0n) return SHARED
  const stats = statOf(file)
  return stats === undefined ? 'gone' : `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`
}
