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
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { LedgerError } from '../contract/ledger.ts'
import { corrupt, sqlError, wordFaults } from './sqlite-fault.ts'
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Archive } from './archive.ts'
import { createSchema, transaction } from './table-schema.ts'
import { prepareTables } from './tables.ts'

/*
 * Only SQLite opens the ledger's file, because closing another handle in this process would drop SQLite's locks
 * (POSIX). Other code uses `stat`.
 */

/** Resolves links, so all paths to a ledger give the same lock. The folder must exist. */
export function realFile(file: string): string {
  const path = resolve(file)
  return wordFaults('open', file, () =>
    existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path)),
  )
}

export function makeFolderOf(file: string): void {
  wordFaults('open', file, () => makeFolder(dirname(resolve(file))))
}

/** @throws {LedgerError} `io` if it is no file; `corrupt` if it is empty, or is gone and left a journal file */
export function ledgerExists(file: string): boolean {
  const stats = statOf(file)
  if (stats?.isDirectory() === true) {
    throw new LedgerError(
      'io',
      `cannot open the ledger ${file}: it is a directory. --ledger needs sqlite:FILE`,
    )
  }
  if (stats?.isFile() === false) {
    throw new LedgerError('io', `cannot open the ledger ${file}: it is not a regular file. Correct --ledger`)
  }
  if (stats?.size === 0n) throw corrupt(file, 'is empty, and a ledger never is')
  for (const log of stats === undefined ? ['-wal', '-journal'] : []) {
    if ((statOf(`${file}${log}`)?.size ?? 0n) > 0n)
      throw corrupt(file, `is gone, while its ${log} file is still there`)
  }
  return stats !== undefined
}

export function statOf(file: string): BigIntStats | undefined {
  return wordFaults('open', file, () => statSync(file, { bigint: true, throwIfNoEntry: false }))
}

export function missing(file: string, hint: string): LedgerError {
  return new LedgerError('missing', `there is no ledger at ${file}. ${hint}`)
}

/**
 * Makes parents, too. Node's `recursive` would loop forever if a parent answers ENOENT although it exists (`/proc`),
 * and would report a read-only file system as ENOENT.
 */
export function makeFolder(folder: string, options: { readonly mode?: number } = {}): void {
  if (!existsSync(dirname(folder))) makeFolder(dirname(folder), options)
  try {
    mkdirSync(folder, options)
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    if (!isThere || !statSync(folder).isDirectory()) throw error
  }
}

/** Writes a draft, then renames it: a ledger is complete or absent. The caller must hold the lock. */
export function createLedgerFile(file: string, archive?: Archive): void {
  const draft = `${file}.new-${randomUUID()}`
  try {
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 }) // it will hold the hash key: readable for this user only
    fill(draft, archive)
    renameSync(draft, file)
    syncFolder(file)
  } catch (error) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
    throw sqlError('write', file, error)
  }
}

function fill(draft: string, archive: Archive | undefined): void {
  using db = new DatabaseSync(draft)
  db.exec('PRAGMA synchronous = FULL')
  createSchema(db, archive?.hashKey)
  if (archive === undefined) return
  transaction(db, () => {
    const tables = prepareTables(db, Infinity)
    tables.set('platform', archive.platform)
    tables.set('profile', archive.profile)
    tables.set('used_version', archive.usedVersion)
    for (const record of archive.records) tables.put(record)
    for (const { key, body } of archive.history) tables.addHistory(key, body)
  })
}

/** Flushes the file's folder, because otherwise a power failure can remove a new name. */
export function syncFolder(file: string): void {
  using stack = new DisposableStack()
  fsyncSync(stack.adopt(openSync(dirname(file), 'r'), closeSync))
}

const RESERVE_BYTES = 1_048_576

/** Takes up disk space. It is removed if the volume has no room for the outcome of a create. */
export function createReserve(ledger: string) {
  const file = `${ledger}.reserve`

  function size(): number {
    return statSync(file, { throwIfNoEntry: false })?.size ?? 0
  }

  function remove(): void {
    rmSync(file, { force: true })
  }

  return {
    take(): void {
      if (size() >= RESERVE_BYTES) return
      try {
        // Not zeros, because some file systems do not store them.
        const text = Buffer.alloc(RESERVE_BYTES, 'pipewright keeps this room for the outcome of a create\n')
        writeFileSync(file, text, { mode: 0o600, flush: true })
      } catch (error) {
        remove()
        throw error
      }
    },
    release(): boolean {
      if (size() === 0) return false
      remove()
      return true
    },
  }
}
