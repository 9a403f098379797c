import { LedgerError } from '../contract/ledger.ts'

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html) with a meaning for users. */
const WORDS: Readonly<Record<number, string>> = {
  1: 'its tables are missing: it was emptied or overwritten while in use',
  5: 'another process kept it busy for too long. Retry, and find the process that writes to it',
  6: 'another process kept it busy for too long. Retry, and find the process that writes to it',
  8: 'it is read-only: make the file and its folder writable for this user',
  10: 'reading or writing the disk failed. If its volume is mounted and not full, look for disk errors in the log of this host',
  13: 'the disk is full. Free some space. Earlier writes are safe',
  14: 'it cannot be opened: the folder must exist and be writable, and the file readable, for this user',
}

export const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff // the lowest byte of an extended code
}

const FULL = 13
const IO = 10
export const CANNOT_OPEN = 14

/** Whether the disk might be full. SQLite has three codes for that. */
export function lacksRoom(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === FULL || code === IO || code === CANNOT_OPEN
}

/** Turns SQLite and file-system errors into a {@link LedgerError}. Returns others unchanged. */
export function sqlError(doing: 'open' | 'read' | 'write', file: string, error: unknown): unknown {
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

/** @throws what {@link sqlError} makes of an error of `work` */
export function wordFaults<T>(doing: 'open' | 'read' | 'write', file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw sqlError(doing, file, error)
  }
}

export function corrupt(file: string, how: string, options?: ErrorOptions): LedgerError {
  return new LedgerError(
    'corrupt',
    `the ledger ${file} ${how}. Do not delete it: without its records, Pipewright would create the pipes again. Restore it from a ` +
      'backup. Or, if a Lock (`pipewright lock`) in the manifests names all pipes, move the damaged file aside with its ' +
      '-journal file: a new ledger then adopts the pipes.',
    options,
  )
}
