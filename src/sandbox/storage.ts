import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { SandboxFileError } from './wire-schema.ts'
import type {
  RecordedAnswer,
  RecordedRequest,
  StoredAlert,
  StoredEndpoint,
  StoredPipe,
  StoredService,
} from './stored.ts'

interface Stored {
  readonly pipe: StoredPipe
  readonly alert: StoredAlert
  readonly endpoint: StoredEndpoint
  readonly service: StoredService
  readonly applied: true
  /** See `rightSecret`. */
  readonly secret: string
}

export const KEPT_REQUESTS = 100_000

type FileUse = 'open' | 'copy' // a copy in memory

export function openStorage(file: string | undefined, use: FileUse = 'open') {
  const database = openDatabase(file, use)
  const get = database.prepare('SELECT value FROM object WHERE kind = ? AND id = ?')
  const all = database.prepare('SELECT value FROM object WHERE kind = ? ORDER BY rowid')
  const put = database.prepare(
    'INSERT INTO object (kind, id, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  const putNew = database.prepare(
    'INSERT INTO object (kind, id, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const remove = database.prepare('DELETE FROM object WHERE kind = ? AND id = ?')
  const addRequest = database.prepare('INSERT INTO request (facts) VALUES (?)')
  const answerRequest = database.prepare('UPDATE request SET answer = ? WHERE seq = ?')
  const forgetRequests = database.prepare('DELETE FROM request WHERE seq <= ?')
  const requests = database.prepare('SELECT * FROM request ORDER BY seq')

  return {
    isDurable: file !== undefined && use === 'open',
    /** Does all of the work or none, and is durable on return. Cannot be nested. */
    transaction: <T>(work: () => T): T => transact(database, work),
    /** Within a transaction: does the work, then undoes it. */
    undone<T>(work: () => T): T {
      database.exec('SAVEPOINT undone')
      try {
        return work()
      } finally {
        database.exec('ROLLBACK TO undone; RELEASE undone')
      }
    },
    get<Kind extends keyof Stored>(kind: Kind, id: string): Stored[Kind] | undefined {
      return parsed(get.get(kind, id)?.['value']) as Stored[Kind] | undefined // put wrote it
    },
    all<Kind extends keyof Stored>(kind: Kind): readonly Stored[Kind][] {
      return all.all(kind).map(({ value }) => parsed(value) as Stored[Kind]) // put wrote it
    },
    put<Kind extends keyof Stored>(kind: Kind, id: string, value: Stored[Kind]): void {
      put.run(kind, id, JSON.stringify(value))
    },
    putNew<Kind extends keyof Stored>(kind: Kind, id: string, value: Stored[Kind]): boolean {
      return putNew.run(kind, id, JSON.stringify(value)).changes > 0
    },
    remove: (kind: keyof Stored, id: string): boolean => remove.run(kind, id).changes > 0,
    addRequest(request: Omit<RecordedRequest, 'seq' | 'answer'>): number {
      const seq = Number(addRequest.run(JSON.stringify(request)).lastInsertRowid)
      if (seq % 1_000 === 0) forgetRequests.run(seq - KEPT_REQUESTS)
      return seq
    },
    answerRequest(seq: number, answer: RecordedAnswer): void {
      answerRequest.run(JSON.stringify(answer), seq)
    },
    requests: (): readonly RecordedRequest[] =>
      requests.all().map(({ seq, facts, answer }) => ({
        ...(parsed(facts) as RecordedRequest), // addRequest wrote it
        seq: Number(seq),
        answer: parsed(answer) as RecordedAnswer | undefined, // answerRequest wrote it
      })),
    [Symbol.dispose]: () => database.close(),
  }
}

function parsed(json: SQLOutputValue | undefined): unknown {
  return typeof json === 'string' ? JSON.parse(json) : undefined
}

const BUSY_TIMEOUT_MS = 10_000
const BUSY_PAUSE_MS = 20

const SQLITE_BUSY = 5

function openDatabase(file: string | undefined, use: FileUse): DatabaseSync {
  try {
    const opened = use === 'open' ? file : undefined
    // Only the owner can read it: it holds connection strings.
    if (opened !== undefined) closeSync(openSync(opened, 'a', 0o600))
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
    const why = error instanceof Error ? error.message : String(error)
    throw new SandboxFileError(`cannot use ${file ?? 'memory'} for the sandbox: ${why}`, { cause: error })
  }
}

/** Retries, because SQLite fails despite its timeout if several processes create a file together. */
function useWal(database: DatabaseSync): void {
  for (let tries = BUSY_TIMEOUT_MS / BUSY_PAUSE_MS; ; tries -= 1) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
      if (tries <= 0 || !isBusy) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS)
    }
  }
}

/** Place of two bytes in a SQLite file. Both are 2 with a write-ahead log, and 1 without. */
const WAL_MARK = { start: 18, end: 20 }

function fillFrom(file: string, database: DatabaseSync): void {
  if (!existsSync(file)) return
  const bytes = bytesOf(file)
  if (bytes.length === 0) return
  bytes.fill(1, WAL_MARK.start, WAL_MARK.end)
  database.deserialize(bytes)
}

/** Reads a closed file without SQLite, which would create files beside it. */
function bytesOf(file: string): Uint8Array {
  if (!existsSync(`${file}-wal`)) return readFileSync(file)
  using source = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  return source.serialize()
}

const VERSION = 5

const TABLES = `
  CREATE TABLE IF NOT EXISTS object (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS request (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    facts TEXT NOT NULL,
    answer TEXT
  ) STRICT`

function prepareTables(database: DatabaseSync): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (found > VERSION) throw new Error(`it was written by a newer version (${found})`)
  if (found > 0 && found < VERSION)
    throw new Error(
      `it was written by an earlier version (${found}). Delete it, and the ledger that belongs to it`,
    )
  database.exec(`${TABLES}; PRAGMA user_version = ${VERSION}`)
}

/** Takes the write lock first: a transaction that reads before it writes would fail instead of waiting. */
function transact<T>(database: DatabaseSync, work: () => T): T {
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
