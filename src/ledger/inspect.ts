import { LedgerError } from '../contract/ledger.ts'
import type { DatabaseSync } from 'node:sqlite'
import { APPLICATION_ID, MIGRATIONS, readPragma, schemaVersion } from './table-schema.ts'
import { corrupt } from './sqlite-fault.ts'

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
