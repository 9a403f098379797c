import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../contract/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import { statOf } from './location.ts'
import { movedAway } from './binding.ts'
import { sqlError, sqliteCode, CANNOT_OPEN } from './sqlite-fault.ts'
import { createSchema, inspect, MIGRATIONS, migrate, readHashKey, readMovedAt } from './table-schema.ts'
import { prepareTables } from './tables.ts'

export const IN_MEMORY = ':memory:'

export interface StoreOptions {
  readonly file: string
  /** An `owner` has the lock. A `reader` also works beside an owner and on a read-only volume. */
  readonly mode: 'owner' | 'reader'
  /** 32 bytes, only for a ledger in memory. Default: random. */
  readonly hashKey?: Uint8Array | undefined
  readonly historyLimit?: number | undefined
  /** Longest wait for another writer, in ms. It blocks the event loop. Default: 2,000. */
  readonly busyTimeoutMs?: number | undefined
  readonly clock: Pick<Clock, 'monotonic'>
  /** For tests: called before each commit. Its errors count as errors of SQLite. */
  readonly beforeCommit?: (() => void) | undefined
}

const HISTORY_LIMIT = 10_000
const BUSY_TIMEOUT_MS = 2_000

export function connect(options: StoreOptions) {
  const { file } = options
  try {
    try {
      return connectOnce(options)
    } catch (error) {
      if (!isCutShort(file, error)) throw error
      undo(options)
      return connectOnce(options)
    }
  } catch (error) {
    throw isCutShort(file, error) ? cutShort(file, error) : sqlError('open', file, error)
  }
}

function connectOnce(options: StoreOptions) {
  const { file, mode, hashKey, historyLimit = HISTORY_LIMIT, busyTimeoutMs = BUSY_TIMEOUT_MS } = options
  const identity = identityOf(file)
  const db = new DatabaseSync(file, { readOnly: mode === 'reader', timeout: busyTimeoutMs })
  try {
    if (file === IN_MEMORY) createSchema(db, hashKey)
    else prepareFile(db, options)
    const tables = prepareTables(db, historyLimit)
    return {
      db,
      tables,
      busyTimeoutMs,
      hashKey: readHashKey(db, file),
      writes: tables.count('writes'),
      isInPlace: () => identityOf(file) === identity,
    }
  } catch (error) {
    db.close()
    throw error
  }
}

function prepareFile(db: DatabaseSync, { file, mode }: StoreOptions): void {
  const age = inspect(db, file)
  if (mode === 'owner') {
    const movedAt = readMovedAt(db)
    if (movedAt !== undefined) throw movedAway(file, movedAt)
    if (age === 'older') migrate(db, MIGRATIONS)
    makeDurable(db, file)
  } else if (age === 'older') {
    throw new LedgerError(
      'io',
      `the ledger ${file} has an older format. Run \`pipewright run\` or \`pipewright apply\` once to upgrade it`,
    )
  }
}

/**
 * Each commit is on disk when it returns. There is no write-ahead log: if a person removed that file, the pipe ids
 * since the last checkpoint would be lost silently.
 */
function makeDurable(db: DatabaseSync, file: string): void {
  if (db.prepare('PRAGMA journal_mode = DELETE').get()?.['journal_mode'] !== 'delete') {
    throw new LedgerError(
      'io',
      `cannot open the ledger ${file}: a process of an earlier version still uses it. Stop that process, and start again`,
    )
  }
  db.exec('PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON')
  assertWritable(db)
}

const READ_ONLY = 8

/** Notices a read-only file before the first create. */
function assertWritable(db: DatabaseSync): void {
  try {
    db.exec(`BEGIN; UPDATE meta SET value = value WHERE name = 'writes'`)
  } catch (error) {
    if (sqliteCode(error) === READ_ONLY) throw error
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK')
  }
}

/** Whether a killed writer left a transaction that this connection cannot roll back. */
function isCutShort(file: string, error: unknown): boolean {
  const code = sqliteCode(error)
  return (code === READ_ONLY || code === CANNOT_OPEN) && statOf(`${file}-journal`) !== undefined
}

/** SQLite rolls back a killed writer's transaction when a writable connection first reads. */
function undo({ file, busyTimeoutMs = BUSY_TIMEOUT_MS }: StoreOptions): void {
  using db = new DatabaseSync(file, { timeout: busyTimeoutMs })
  db.prepare('PRAGMA schema_version').get()
}

function cutShort(file: string, cause: unknown): LedgerError {
  return new LedgerError(
    'io',
    `cannot open the ledger ${file}: its last write was cut short and must be undone, but its folder is not writable. Copy it, together ` +
      'with its -journal file, to a writable folder, and read it there.',
    { cause },
  )
}

function identityOf(file: string): string | undefined {
  const stats = file === IN_MEMORY ? undefined : statOf(file)
  return stats && `${stats.dev}:${stats.ino}`
}
