import {
  existsSync,
  realpathSync,
  statSync,
  type BigIntStats,
  mkdirSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { LedgerError } from '../contract/ledger.ts'
import { corrupt, explain } from './sqlite-fault.ts'
import { randomBytes, randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Key } from '../kinds/key.ts'
import type { Archive } from './archive.ts'
import { APPLICATION_ID, MIGRATIONS, migrate, transaction } from './table-schema.ts'
import { prepareWrites } from './tables.ts'

/*
 * The ledger's file is only ever looked at with `stat`, never opened, except by SQLite: to close any other handle of
 * it in this process would drop SQLite's locks on it (POSIX).
 */

/** The file with links resolved, so that two names of one ledger share one lock. The folder must exist. */
export function realFile(file: string): string {
  const path = resolve(file)
  try {
    return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
  } catch (error) {
    throw explain('open', file, error)
  }
}

/** @throws {LedgerError} `io` */
export function makeFolderOf(file: string): void {
  try {
    makeFolder(dirname(resolve(file)))
  } catch (error) {
    throw explain('open', file, error)
  }
}

/**
 * Whether there is a file that may be a ledger.
 * @throws {LedgerError} `io` or `corrupt` when something else is there
 */
export function ledgerExists(file: string): boolean {
  const stats = statOf(file)
  if (stats?.isDirectory() === true) {
    throw new LedgerError(
      'io',
      `cannot open the ledger ${file}: it is a directory; --ledger wants sqlite:FILE`,
    )
  }
  if (stats?.isFile() === false) {
    throw new LedgerError('io', `cannot open the ledger ${file}: it is not a regular file`)
  }
  if (stats?.size === 0n) throw corrupt(file, 'is empty, and a ledger never is')
  for (const log of stats === undefined ? ['-wal', '-journal'] : []) {
    if ((statOf(`${file}${log}`)?.size ?? 0n) > 0n)
      throw corrupt(file, `is gone, while its ${log} file is still there`)
  }
  return stats !== undefined
}

/** @throws {LedgerError} `io` when it cannot even be looked at */
export function statOf(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    throw explain('open', file, error)
  }
}

/** That there is no ledger, for those who may not make one. */
export function missing(file: string, hint: string): LedgerError {
  return new LedgerError('missing', `there is no ledger at ${file}. ${hint}`)
}

/**
 * Makes a folder and those above it. Node's own `recursive` spins for ever where a parent answers ENOENT although it
 * is there (`/proc`), and hides a read-only file system behind ENOENT.
 * @throws the error of the first folder that could not be made
 */
export function makeFolder(folder: string, options: { readonly mode?: number } = {}): void {
  if (tryToMake(folder, options) === 'no parent') {
    makeFolder(dirname(folder), options)
    if (tryToMake(folder, options) === 'no parent') mkdirSync(folder, options)
  }
}

function tryToMake(folder: string, options: { readonly mode?: number }): 'there' | 'no parent' {
  try {
    mkdirSync(folder, options)
    return 'there'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return 'there'
    if (code === 'ENOENT' && dirname(folder) !== folder) return 'no parent'
    throw error
  }
}

/**
 * Makes a new ledger. It is made beside its place and moved there when it is whole and on disk, so that a ledger is
 * either complete or not there, and an empty file is a sign of damage. The caller holds the lease.
 *
 * @param now ms since the epoch
 * @param archive what it is to hold; nothing when absent
 * @throws {LedgerError} `io`
 */
export function createLedgerFile(file: string, now: number, archive?: Archive): void {
  const draft = `${file}.new-${randomUUID()}`
  try {
    closeSync(openSync(draft, 'wx', 0o600)) // it will hold the key of the hashes: for this user only
    fill(draft, now, archive)
    renameSync(draft, file)
    syncFolder(file)
  } catch (error) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
    throw explain('write', file, error)
  }
}

function fill(draft: string, now: number, archive: Archive | undefined): void {
  const db = new DatabaseSync(draft)
  try {
    db.exec(`PRAGMA synchronous = FULL; PRAGMA application_id = ${APPLICATION_ID}`)
    migrate(db, MIGRATIONS)
    const put = db.prepare('INSERT INTO meta (name, value) VALUES (?, ?)')
    put.run('hash_key', archive?.hashKey ?? randomBytes(32))
    put.run('created_at', now)
    if (archive !== undefined) transaction(db, () => fillWith(db, archive))
  } finally {
    db.close()
  }
}

function fillWith(db: DatabaseSync, { platform, profile, usedVersion, records, history }: Archive): void {
  const tables = prepareWrites(db, Infinity)
  tables.setPlatform(platform)
  tables.setProfile(profile)
  tables.setUsedVersion(usedVersion)
  for (const record of records) tables.put(record)
  for (const { key, body } of history) tables.addHistory(key as Key, body)
}

/** Makes the name of a file durable, not only its content. */
export function syncFolder(file: string): void {
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
