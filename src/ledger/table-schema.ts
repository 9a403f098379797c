import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../contract/ledger.ts'
import { corrupt } from './sqlite-fault.ts'

/** `PRAGMA application_id`: "PWLG". */
const APPLICATION_ID = 0x50574c47

/**
 * Statements from each schema version to the next. Never change them, because some ledger has run them. Add
 * a migration if `plan/record.ts` would refuse older records.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE record (key TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
  CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX history_by_key ON history (key, id);
  INSERT INTO meta (name, value) VALUES ('used_version', 0);
  `,
  // Adds a count of writes, `seenAt` of adopted pipes, and `sendBy` and `endBy` of intents. Existing intents get the
  // longest time limits that a request can have.
  `
  INSERT INTO meta (name, value) VALUES ('writes', 0);
  UPDATE record SET body = json_remove(body, '$.misses');
  UPDATE record SET body = json_set(body, '$.pipe.seenAt', json_extract(body, '$.pipe.at'))
    WHERE json_extract(body, '$.pipe.origin') = 'adopted';
  UPDATE record SET body = json_set(
      body,
      '$.intent.reason', 'New',
      '$.intent.sendBy', json_extract(body, '$.intent.openedAt') + 60000,
      '$.intent.endBy', json_extract(body, '$.intent.openedAt') + 120000
    ) WHERE json_extract(body, '$.intent.id') IS NOT NULL;
  `,
  // Renames `pipe` to `remote`, because records hold resources of any kind.
  `
  UPDATE record SET body = json_set(json_remove(body, '$.pipe'), '$.remote', json_extract(body, '$.pipe'))
    WHERE json_type(body, '$.pipe') IS NOT NULL;
  UPDATE record SET body = json_set(json_remove(body, '$.former.pipe'), '$.former.remote', json_extract(body, '$.former.pipe'))
    WHERE json_type(body, '$.former.pipe') IS NOT NULL;
  `,
  // The time of the last platform read of each key. A read does not change the record.
  `
  CREATE TABLE IF NOT EXISTS checked (key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
]

/** Added to the schema version of a moved ledger, because older versions of Pipewright then refuse it as newer. */
const MOVED = 1_000_000

export function schemaVersion(db: DatabaseSync): number {
  return readPragma(db, 'user_version') % MOVED
}

/** Call this in the transaction that exports the ledger. @param at ISO 8601 */
export function markMoved(db: DatabaseSync, at: string): void {
  db.prepare(`INSERT OR REPLACE INTO meta (name, value) VALUES ('moved_at', ?)`).run(at)
  db.exec(`PRAGMA user_version = ${MOVED + schemaVersion(db)}`)
}

/** @returns ISO 8601. Undefined: not moved */
export function readMovedAt(db: DatabaseSync): string | undefined {
  if (schemaVersion(db) === 0) return undefined // no tables yet
  const value = db.prepare(`SELECT value FROM meta WHERE name = 'moved_at'`).get()?.['value']
  return typeof value === 'string' ? value : undefined
}

function readPragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}

/** @param hashKey 32 bytes */
export function createSchema(db: DatabaseSync, hashKey: Uint8Array = randomBytes(32)): void {
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  migrate(db, MIGRATIONS)
  db.prepare(`INSERT INTO meta (name, value) VALUES ('hash_key', ?)`).run(hashKey)
}

export function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  transaction(db, () => {
    // Read the version inside the transaction, because another process might have migrated.
    for (const statements of migrations.slice(schemaVersion(db))) db.exec(statements)
    db.exec(`PRAGMA user_version = ${Math.max(schemaVersion(db), migrations.length)}`)
  })
}

export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    rollback(db)
    throw error
  }
}

function rollback(db: DatabaseSync): void {
  if (!db.isTransaction) return // some failures, such as a full disk, already rolled back
  try {
    db.exec('ROLLBACK')
  } catch {
    // Keep the first error. SQLite rolls back on close or at the next open.
  }
}

/** Writes nothing. @returns `older`: needs a migration @throws {LedgerError} `corrupt` or `newer` */
export function inspect(db: DatabaseSync, file: string): 'current' | 'older' {
  if (readPragma(db, 'application_id') !== APPLICATION_ID) {
    throw corrupt(file, 'is an SQLite file, but not a ledger of Pipewright')
  }
  const version = schemaVersion(db)
  if (version > MIGRATIONS.length) {
    throw new LedgerError(
      'newer',
      `the ledger ${file} has version ${version}, but this program knows only versions up to ${MIGRATIONS.length}. ` +
        'A newer Pipewright has used the ledger. Use that version again, or restore the backup from before the upgrade.',
    )
  }
  const problem = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (problem !== 'ok') throw corrupt(file, `is damaged (${String(problem)})`)
  return version < MIGRATIONS.length ? 'older' : 'current'
}

export function readHashKey(db: DatabaseSync, file: string): Uint8Array {
  const value = db.prepare(`SELECT value FROM meta WHERE name = 'hash_key'`).get()?.['value']
  if (!(value instanceof Uint8Array) || value.length !== 32) throw corrupt(file, 'has no hash key')
  return value
}
