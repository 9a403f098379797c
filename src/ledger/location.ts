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
 * Only SQLite opens the ledger's file; other code uses `stat`. Closing another handle in this process would
 * drop SQLite's locks (POSIX).
 */

/** Resolves links: all paths to a ledger share a lock. The folder must exist. */
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

/** @throws {LedgerError} `io`, or `corrupt` if it is not a file */
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

/** @throws {LedgerError} `io` */
export function statOf(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    throw explain('open', file, error)
  }
}

/** For modes that cannot create a ledger. */
export function missing(file: string, hint: string): LedgerError {
  return new LedgerError('missing', `there is no ledger at ${file}. ${hint}`)
}

/**
 * Includes parents. Node's `recursive` loops forever if a parent answers ENOENT although it exists (`/proc`),
 * and hides a read-only file system behind ENOENT.
 * @throws the error of the first folder that fails
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
 * Creates a draft file and renames it once it is on disk. A ledger is complete or absent, and an empty file
 * is damage. The caller holds the lease.
 * @param now ms since the epoch
 * @param archive Default: empty
 * @throws {LedgerError} `io`
 */
export function createLedgerFile(file: string, now: number, archive?: Archive): void {
  const draft = `${file}.new-${randomUUID()}`
  try {
    closeSync(openSync(draft, 'wx', 0o600)) // it will hold the hash key: readable for this user only
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

/** Makes a file's name durable. */
export function syncFolder(file: string): void {
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
