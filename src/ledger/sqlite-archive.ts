import { LedgerError } from '../contract/ledger.ts'
import type { Archive } from './archive.ts'
import { takeLease } from './lease.ts'
import { createLedgerFile, ledgerExists, makeFolderOf, realFile } from './location.ts'
import { isThere } from './moved.ts'
import { openToRead, openToWrite, type SqliteLedgerOptions } from './open-sqlite-ledger.ts'
import type { Tables } from './tables.ts'

type Place = Pick<SqliteLedgerOptions, 'file' | 'clock' | 'emit'>

export async function unbindSqlite(options: Place): Promise<string | undefined> {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(openToWrite({ ...options, init: 'never' }, stack))
  return store.write((tables) => {
    const platform = tables.text('platform')
    tables.set('platform', undefined)
    return platform
  }, 'free')
}

export async function readSqliteArchive(options: Omit<Place, 'emit'>): Promise<Archive> {
  await using store = openToRead(options)
  return store.read((tables) => archiveOf(tables, store.hashKey))
}

function archiveOf(tables: Tables, hashKey: Uint8Array): Archive {
  return {
    hashKey,
    platform: tables.text('platform'),
    profile: tables.text('profile'),
    usedVersion: tables.count('used_version'),
    forgotten: [],
    rollback: undefined,
    records: tables.all(),
    history: tables.history(undefined, Number.MAX_SAFE_INTEGER).toReversed(),
  }
}

/** Exports the ledger and marks it as moved. A ledger that was moved before is only exported again. */
export async function moveSqlite(options: Place, save: (archive: Archive) => void): Promise<void> {
  await using stack = new AsyncDisposableStack()
  try {
    const store = stack.use(openToWrite({ ...options, init: 'never' }, stack))
    // One transaction, because a write between the export and the mark would be lost.
    store.write((tables) => {
      save(archiveOf(tables, store.hashKey))
      store.markMoved(new Date(options.clock.now()).toISOString())
    }, 'free')
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== 'moved') throw error
    save(await readSqliteArchive(options))
  }
}

/** Imports all records or none. */
export async function writeSqliteArchive(
  { file, clock }: Omit<Place, 'emit'>,
  archive: Archive,
): Promise<void> {
  if (archive.rollback !== undefined)
    throw new LedgerError(
      'corrupt',
      `the exported ledger was rolled back to an earlier state: ${archive.rollback}. No record was imported. Compare that ledger with ` +
        'the platform, adopt the existing pipes with "pipewright adopt", run "pipewright ledger accept", and export it again.',
    )
  makeFolderOf(file)
  const place = realFile(file)
  using _ = takeLease(place, clock.now())
  if (ledgerExists(place)) {
    await using store = openToRead({ file: place, clock })
    throw isThere(`at ${file}`, store.movedAt(), 'use another file name')
  }
  createLedgerFile(place, archive)
}
