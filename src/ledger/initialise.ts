import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { APPLICATION_ID, MIGRATIONS, migrate } from './table-schema.ts'
import { explain } from './sqlite-fault.ts'

/**
 * Makes a new ledger. It is made beside its place and moved there when it is whole and on disk, so that a ledger is
 * either complete or not there, and an empty file is a sign of damage. The caller holds the owner lock.
 *
 * @param now ms since the epoch
 * @throws {LedgerError} `io`
 */
export function createLedgerFile(file: string, now: number): void {
  const draft = `${file}.new-${randomUUID()}`
  try {
    closeSync(openSync(draft, 'wx', 0o600)) // it will hold the key of the hashes: for this user only
    fill(draft, now)
    renameSync(draft, file)
    syncFolder(file)
  } catch (error) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
    throw explain('write', file, error)
  }
}

function fill(draft: string, now: number): void {
  const db = new DatabaseSync(draft)
  try {
    db.exec(`PRAGMA synchronous = FULL; PRAGMA application_id = ${APPLICATION_ID}`)
    migrate(db, MIGRATIONS)
    const put = db.prepare('INSERT INTO meta (name, value) VALUES (?, ?)')
    put.run('hash_key', randomBytes(32))
    put.run('created_at', now)
  } finally {
    db.close()
  }
}

/** Makes the name durable, not only the content. */
function syncFolder(file: string): void {
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
