import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { LedgerError } from '../contract/ledger.ts'
import { BUSY, sqlError, sqliteCode, CANNOT_OPEN } from './sqlite-fault.ts'

/** ms. {@link isOwned} of another process might hold the lock for an instant. */
const PATIENCE_MS = 200

/**
 * Locks `<file>.lock` with an exclusive SQLite transaction until disposed, or until the process ends. The file is
 * never removed: another process could lock a new one. Only SQLite opens it, because closing another handle drops
 * the lock (POSIX). `<file>.holder` names the holder.
 * @param patienceMs to wait for the lock. Blocks the event loop.
 * @throws {LedgerError} `locked`, naming the holder, or `io`
 */
export function takeLease(file: string, now: number, patienceMs = PATIENCE_MS): Disposable {
  const holderFile = `${file}.holder`
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(`${file}.lock`, { timeout: patienceMs })
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    if (sqliteCode(error) === BUSY)
      throw new LedgerError(
        'locked',
        `another process owns the ledger ${file} (${readHolder(holderFile)}). Two processes could create a pipe ` +
          'twice. Stop the other process. Or, if it is a daemon, use "pipewright reconcile --wait". Or name another file with --ledger.',
      )
    throw sqlError('open', file, error)
  }
  const held = lock
  writeHolder(holderFile, now)
  return {
    [Symbol.dispose]() {
      try {
        rmSync(holderFile, { force: true })
      } finally {
        held.close()
      }
    },
  }
}

/** Whether any process owns the ledger. Writes no files. @throws {LedgerError} `io` */
export function isOwned(file: string): boolean {
  try {
    using probe = new DatabaseSync(`${file}.lock`, { readOnly: true, timeout: 0 })
    probe.prepare('SELECT 1 FROM sqlite_schema').get()
    return false
  } catch (error) {
    const code = sqliteCode(error)
    if (code === CANNOT_OPEN) return false // never owned
    if (code === BUSY) return true
    throw sqlError('open', file, error)
  }
}

function writeHolder(holderFile: string, now: number): void {
  const since = new Date(now).toISOString()
  try {
    writeFileSync(holderFile, `process ${process.pid} on ${hostname()}, since ${since}\n`)
  } catch {
    // Ignored, because the file is only for messages.
  }
}

function readHolder(holderFile: string): string {
  try {
    return readFileSync(holderFile, 'utf8').slice(0, 300).trim() || 'unknown'
  } catch {
    return 'unknown'
  }
}
