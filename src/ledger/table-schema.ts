import type { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../contract/ledger.ts'
import { corrupt } from './sqlite-fault.ts'

/** `PRAGMA application_id` of a ledger: "PWLG". Tells it from any other SQLite file. */
export const APPLICATION_ID = 0x50574c47

/**
 * The statements that lead from each version of the schema to the next; the first makes an empty file version 1.
 * Written ones are never changed: a ledger somewhere has already run them. A change of the shape of a record that
 * `plan/record.ts` would refuse is a migration too.
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
  // Counts the writes; and what a record says since: when a pipe was first seen, why an attempt was made, until when it
  // may go out. An attempt of before is as if its request could go out to the end of any time limit.
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
  // What a record holds of the platform is of any kind, and no longer called `pipe`.
  `
  UPDATE record SET body = json_set(json_remove(body, '$.pipe'), '$.remote', json_extract(body, '$.pipe'))
    WHERE json_type(body, '$.pipe') IS NOT NULL;
  UPDATE record SET body = json_set(json_remove(body, '$.former.pipe'), '$.former.remote', json_extract(body, '$.former.pipe'))
    WHERE json_type(body, '$.former.pipe') IS NOT NULL;
  `,
  // When each resource was last read on the platform: apart from its record, which does not change by that.
  `
  CREATE TABLE IF NOT EXISTS checked (key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
]

/**
 * Added to the version of a ledger that was moved, so that programs that do not know the mark ({@link markMoved}) refuse it as a newer one.
 */
const MOVED = 1_000_000

export function schemaVersion(db: DatabaseSync): number {
  return readPragma(db, 'user_version') % MOVED
}

/** Within a transaction; no copy of the file is without it. @param at as `Ledger.movedAt` */
export function markMoved(db: DatabaseSync, at: string): void {
  db.prepare(`INSERT OR REPLACE INTO meta (name, value) VALUES ('moved_at', ?)`).run(at)
  db.exec(`PRAGMA user_version = ${MOVED + schemaVersion(db)}`)
}

/** As `Ledger.movedAt`. */
export function readMovedAt(db: DatabaseSync): string | undefined {
  if (schemaVersion(db) === 0) return undefined // it has no tables yet
  const value = db.prepare(`SELECT value FROM meta WHERE name = 'moved_at'`).get()?.['value']
  return typeof value === 'string' ? value : undefined
}

export function readPragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
}

/**
 * Brings a database to the newest version, all or nothing.
 * @throws what SQLite throws; then nothing has changed
 */
export function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  transaction(db, () => {
    // read inside the transaction: another process may have been quicker
    for (const statements of migrations.slice(schemaVersion(db))) db.exec(statements)
    db.exec(`PRAGMA user_version = ${Math.max(schemaVersion(db), migrations.length)}`)
  })
}

/** Runs `work` in a transaction that no other writer can come between. */
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
  if (!db.isTransaction) return // some failures, such as a full disk, roll back by themselves
  try {
    db.exec('ROLLBACK')
  } catch {
    // the error that led here says more; SQLite rolls back when the connection is closed or the file next opened
  }
}

/**
 * That the file is a ledger, whole, and not from the future. Changes nothing.
 * @returns whether it is older than this program
 * @throws {LedgerError} `corrupt` or `newer`
 */
export function inspect(db: DatabaseSync, file: string): 'current' | 'older' {
  if (readPragma(db, 'application_id') !== APPLICATION_ID) {
    throw corrupt(file, 'is an SQLite file, but not a ledger of Pipewright')
  }
  const version = schemaVersion(db)
  if (version > MIGRATIONS.length) {
    throw new LedgerError(
      'newer',
      `the ledger ${file} is of version ${version}, and this program knows versions up to ${MIGRATIONS.length}. ` +
        'A newer Pipewright has used it: use that one again, or restore the backup from before it.',
    )
  }
  const problem = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (problem !== 'ok') throw corrupt(file, `is damaged (${String(problem)})`)
  return version < MIGRATIONS.length ? 'older' : 'current'
}

/** The key of the hashes. @throws {LedgerError} `corrupt` */
export function readHashKey(db: DatabaseSync, file: string): Uint8Array {
  const value = db.prepare(`SELECT value FROM meta WHERE name = 'hash_key'`).get()?.['value']
  if (!(value instanceof Uint8Array) || value.length !== 32) throw corrupt(file, 'has no hash key')
  return value
}
