import { type Ledger, LedgerError } from '../contract/ledger.ts'
import { createMemoryLedger } from './memory-backend.ts'
import { openSqliteLedger, type SqliteLedgerOptions, untieSqliteLedger } from './sqlite-backend.ts'

/**
 * Opens the ledger that `--ledger` names: `sqlite:PATH` or `memory:`.
 * @throws {LedgerError} also when the text names no backend that there is
 */
export async function openLedger(url: string, options: Omit<SqliteLedgerOptions, 'file'>): Promise<Ledger> {
  if (url === 'memory:') return createMemoryLedger({ emit: options.emit })
  return openSqliteLedger({ ...options, file: fileOf(url) })
}

/**
 * Unties a ledger from the platform it was used with, which has moved; the next owner ties it to its own.
 * @returns what it was tied to
 * @throws {LedgerError}
 */
export async function untieLedger(
  url: string,
  options: Pick<SqliteLedgerOptions, 'clock' | 'emit'>,
): Promise<string | undefined> {
  return url === 'memory:' ? undefined : untieSqliteLedger({ ...options, file: fileOf(url) })
}

function fileOf(url: string): string {
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ''
  // sqlite://ledger.db would be a file in the root folder, which nobody means
  if (file === '' || file.startsWith(':') || /^\/\/[^/]/.test(file) || file.includes('\0')) {
    throw new LedgerError(
      'io',
      `there is no ledger of the kind "${url}": give sqlite:PATH, such as sqlite:.pipewright/ledger.db or ` +
        'sqlite:/var/lib/pipewright/ledger.db, or memory: for one that is gone with the process',
    )
  }
  return file
}
