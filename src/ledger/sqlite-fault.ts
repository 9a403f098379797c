import { LedgerError } from '../contract/ledger.ts'

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html) with a meaning for users. */
const WORDS: Readonly<Record<number, string>> = {
  1: 'it does not hold what a ledger holds: it was emptied or written over while in use',
  5: 'another process kept it busy for too long; try again, and see who else writes to it',
  6: 'another process kept it busy for too long; try again, and see who else writes to it',
  8: 'it is read-only: make the file and its folder writable for this user',
  10: 'reading or writing the disk failed: see whether the volume is full, mounted and healthy',
  13: 'the disk is full: free some space; what was written before is safe',
  14: 'it cannot be opened: the folder must exist and be writable, and the file readable, for this user',
}

/** Another connection holds the lock. */
export const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

/** Primary result code; undefined: not an SQLite error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff // the lowest byte of an extended code
}

const FULL = 13
const IO = 10
const CANNOT_OPEN = 14

/** No room for a page or the journal. */
export function lacksRoom(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === FULL || code === IO || code === CANNOT_OPEN
}

/** Words an SQLite or file-system error; returns other errors unchanged. */
export function explain(doing: 'open' | 'read' | 'write', file: string, error: unknown): unknown {
  const code = sqliteCode(error)
  const cause = { cause: error }
  if (code === CORRUPT || code === NOT_A_DATABASE) {
    return corrupt(file, code === CORRUPT ? 'is damaged' : 'is not an SQLite file', cause)
  }
  if (code !== undefined) {
    const words = WORDS[code] ?? (error instanceof Error ? error.message : String(error))
    return new LedgerError('io', `cannot ${doing} the ledger ${file}: ${words}`, cause)
  }
  if (error instanceof Error && 'syscall' in error) {
    return new LedgerError('io', `cannot ${doing} the ledger ${file}: ${error.message}`, cause)
  }
  return error
}

/** @param how the damage, such as "is damaged" */
export function corrupt(file: string, how: string, options?: ErrorOptions): LedgerError {
  return new LedgerError(
    'corrupt',
    `the ledger ${file} ${how}. Restore it from a backup. Do not just delete it: it knows which pipes exist, and ` +
      'without it they would be created a second time. With a manifest of kind Lock (`pipewright lock`) in the ' +
      'catalog, a new ledger rebuilds itself by adopting; then move the damaged file aside, with its -journal file.',
    options,
  )
}
