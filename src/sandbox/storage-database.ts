import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Grows with every change of {@link TABLES}; stands in `user_version` of the file. */
const VERSION = 4

/** The tables of the sandbox's data; `body`, `incidents`, `internals`, `facts` and `answer` are JSON. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS pipe (
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL,
    service_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    incidents TEXT NOT NULL,
    internals TEXT NOT NULL DEFAULT '{}'
  ) STRICT;
  CREATE TABLE IF NOT EXISTS service (
    organization_id TEXT NOT NULL,
    service_id TEXT NOT NULL,
    state TEXT NOT NULL,
    UNIQUE (organization_id, service_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS endpoint (
    organization_id TEXT NOT NULL,
    service_id TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (organization_id, service_id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS alert (
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    incidents TEXT NOT NULL,
    service TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE TABLE IF NOT EXISTS said (
    what TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE IF NOT EXISTS right_secret (
    name TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS request (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    facts TEXT NOT NULL,
    answer TEXT
  ) STRICT`

/** How long one process waits for another that is writing, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000
const BUSY_PAUSE_MS = 20

/** SQLite's code for a lock that somebody else holds. */
const SQLITE_BUSY = 5

/** How a file is used: as it is, or as a copy in memory, so that the file stays as it is. */
export type FileUse = 'open' | 'copy'

/** The database in `file`, or a new one in memory, with its tables. @throws Error that names the file */
export function openDatabase(file: string | undefined, use: FileUse): DatabaseSync {
  try {
    const opened = use === 'open' ? file : undefined
    if (opened !== undefined) makeFile(opened)
    const database = new DatabaseSync(opened ?? ':memory:', { timeout: BUSY_TIMEOUT_MS })
    try {
      if (file !== undefined && use === 'copy') fillFrom(file, database)
      useWal(database)
      database.exec('PRAGMA synchronous = FULL')
      transact(database, () => prepareTables(database))
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw new Error(`cannot use ${file ?? 'memory'} for the sandbox's data: ${wordOf(error)}`, {
      cause: error,
    })
  }
}

/**
 * Seen: of several processes that open a new file at the same moment, one finds it locked at once, whatever
 * the timeout. So it tries again, for as long as the timeout would have let it.
 */
function useWal(database: DatabaseSync): void {
  for (let tries = BUSY_TIMEOUT_MS / BUSY_PAUSE_MS; ; tries -= 1) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (tries <= 0 || !isBusy(error)) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS)
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

/** Connection strings are shown by the interface and so kept in here: for the owner's eyes only. */
function makeFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
}

/** Fills an empty database in memory with what is in a file; one that is not there holds nothing. */
function fillFrom(file: string, database: DatabaseSync): void {
  if (!existsSync(file)) return
  const bytes = bytesOf(file)
  if (bytes.length === 0) return
  bytes.fill(1, WAL_MARK.start, WAL_MARK.end)
  database.deserialize(bytes)
}

/** Where a SQLite file says that it has a write-ahead log, which there is none of in memory: 1 is without, 2 with. */
const WAL_MARK = { start: 18, end: 20 }

/** A file that no process has open is read without SQLite, which would leave new files beside it. */
function bytesOf(file: string): Uint8Array {
  if (!existsSync(`${file}-wal`)) return readFileSync(file)
  using source = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  return source.serialize()
}

/** What the tables of earlier versions lack. */
const ADDED = [
  { table: 'pipe', column: 'internals', type: "TEXT NOT NULL DEFAULT '{}'" },
  { table: 'alert', column: 'service', type: "TEXT NOT NULL DEFAULT ''" },
] as const

function prepareTables(database: DatabaseSync): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (found > VERSION) throw new Error(`it was written by a newer version (${found})`)
  database.exec(TABLES)
  for (const { table, column, type } of ADDED) {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()
    if (!columns.some(({ name }) => name === column))
      database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
  }
  database.exec(`PRAGMA user_version = ${VERSION}`)
}

/** Does the work inside of a transaction, and takes it back. */
export function undone<T>(database: DatabaseSync, work: () => T): T {
  database.exec('SAVEPOINT undone')
  try {
    return work()
  } finally {
    database.exec('ROLLBACK TO undone; RELEASE undone')
  }
}

/** IMMEDIATE: a reader that turns into a writer would not wait for another process but fail. */
export function transact<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function wordOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
