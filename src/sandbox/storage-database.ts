import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** `user_version`; grows with each change of {@link TABLES}. */
const VERSION = 4

/** `body`, `incidents`, `internals`, `facts` and `answer` are JSON. */
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

const BUSY_TIMEOUT_MS = 10_000
const BUSY_PAUSE_MS = 20

const SQLITE_BUSY = 5

/** `copy`: in memory. */
export type FileUse = 'open' | 'copy'

/** @throws Error that names the file */
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

/** SQLite fails despite the timeout if several processes create a file together. */
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

/** Only the owner can read the stored connection strings. */
function makeFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
}

function fillFrom(file: string, database: DatabaseSync): void {
  if (!existsSync(file)) return
  const bytes = bytesOf(file)
  if (bytes.length === 0) return
  bytes.fill(1, WAL_MARK.start, WAL_MARK.end)
  database.deserialize(bytes)
}

/** SQLite's mark for a write-ahead log: 1 without, 2 with. */
const WAL_MARK = { start: 18, end: 20 }

/** SQLite would create files beside a closed file. */
function bytesOf(file: string): Uint8Array {
  if (!existsSync(`${file}-wal`)) return readFileSync(file)
  using source = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  return source.serialize()
}

/** Columns that earlier versions lack. */
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

export function undone<T>(database: DatabaseSync, work: () => T): T {
  database.exec('SAVEPOINT undone')
  try {
    return work()
  } finally {
    database.exec('ROLLBACK TO undone; RELEASE undone')
  }
}

/** Otherwise, a read that becomes a write fails instead of waiting. */
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
