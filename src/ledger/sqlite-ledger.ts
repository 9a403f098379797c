import { type Ledger, LedgerError, type OpenedLedger } from '../contract/ledger.ts'
import type { Store } from './backend.ts'
import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import type { Archive } from './archive.ts'
import { assertBinding, keptProfile } from './binding.ts'
import { createLedgerFile, ledgerExists, makeFolderOf, missing, realFile } from './location.ts'
import { createLedger } from './ledger-on-tables.ts'
import { createSoleLeadership } from './sole-leadership.ts'
import { takeLease } from './lease.ts'
import { isThere } from './moved.ts'
import { openReadStore } from './read-store.ts'
import type { ReadTables } from './tables.ts'
import { openWriteStore, type OpenedStore } from './write-store.ts'

/** Binds an unbound ledger; refuses another binding. @throws {LedgerError} `platform` */
function bind(store: Store, { file, mode, platform, profile }: SqliteLedgerOptions): void {
  if (platform === undefined && profile === undefined) return
  const bound = store.read((tables) => ({
    platform: tables.platform(),
    profile: tables.profile(),
    records: tables.versions().size,
  }))
  if (bound.records > 0) assertBinding(file, bound, { platform, profile })
  if (mode !== 'owner') return
  const kept = profile === undefined ? bound.profile : keptProfile(profile)
  const isNewPlatform = platform !== undefined && bound.platform !== platform
  if (!isNewPlatform && kept === bound.profile) return
  store.write((tables) => {
    if (isNewPlatform) tables.setPlatform(platform)
    if (kept !== bound.profile) tables.setProfile(kept)
  }, 'free')
}

const HISTORY_LIMIT = 10_000
const BUSY_TIMEOUT_MS = 2_000

export interface SqliteLedgerOptions {
  readonly file: string
  /** Whether to create a missing ledger. A reader never creates it. */
  readonly init: 'auto' | 'never'
  /** `owner`: exclusive. `reader`: read-only, also beside an owner. */
  readonly mode: 'owner' | 'reader'
  /** Bound by the first owner, then compared; see {@link assertBinding}. Undefined: not compared. */
  readonly platform?: string | undefined
  /** The profile's name; as `platform`. */
  readonly profile?: string | undefined
  /** Lines. Default: 10,000. */
  readonly historyLimit?: number
  readonly clock: Clock
  readonly emit: Emit
  /** Longest wait for a writer, once in ten seconds: it blocks the event loop. Default: 2,000 ms. */
  readonly busyTimeoutMs?: number
  /** For tests: called before each commit; its errors count as SQLite's. */
  readonly beforeCommit?: (() => void) | undefined
}

/**
 * A write is in the file on disk when it returns.
 * @throws {LedgerError} `locked`, `corrupt`, `newer`, `missing` or `io`
 */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  return (await openSqlite(options)).ledger
}

/** As {@link openSqliteLedger}, with leadership. @throws {LedgerError} */
export async function openSqlite(options: SqliteLedgerOptions): Promise<OpenedLedger> {
  await using stack = new AsyncDisposableStack()
  const { store, hashKey } = options.mode === 'reader' ? openToRead(options) : openToWrite(options, stack)
  stack.use(store)
  bind(store, options)
  const resources = stack.move()
  const ledger = createLedger({
    store: { ...store, [Symbol.asyncDispose]: () => resources.disposeAsync() },
    hashKey,
    emit: options.emit,
    clock: options.clock,
  })
  const movedAt = store.read((tables) => tables.movedAt())
  return {
    ledger: Object.assign(ledger, { movedAt }),
    leadership: createSoleLeadership(store),
    notes: undefined,
  }
}

function openToRead({ file, busyTimeoutMs }: SqliteLedgerOptions): OpenedStore {
  if (!ledgerExists(file)) {
    throw missing(file, 'It was never used, or --ledger should name another file.')
  }
  return openReadStore(realFile(file), busyTimeoutMs ?? BUSY_TIMEOUT_MS)
}

function openToWrite(options: SqliteLedgerOptions, stack: AsyncDisposableStack): OpenedStore {
  if (options.init === 'auto') makeFolderOf(options.file)
  assertMayStart(options)
  const file = realFile(options.file)
  const now = options.clock.now()
  stack.use(takeLease(file, now))
  if (!ledgerExists(file)) createLedgerFile(file, now)
  return openWriteStore({
    file,
    busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    historyLimit: options.historyLimit ?? HISTORY_LIMIT,
    clock: options.clock,
    beforeCommit: options.beforeCommit,
  })
}

/** Runs before any change: `init: never` creates no folder either. */
function assertMayStart({ file, init }: SqliteLedgerOptions): void {
  if (ledgerExists(file) || init === 'auto') return
  throw missing(
    file,
    'This would have been a first run, which --ledger-init=never forbids: see that the volume is mounted and ' +
      '--ledger names the right file. If it was lost, restore it from a backup; "pipewright plan" works without it, and says ' +
      'the creates and the adoptions by a Lock. If this is the first run, use --ledger-init=auto once.',
  )
}

/** @returns the former binding @throws {LedgerError} */
export async function unbindSqlite(
  file: string,
  options: Pick<SqliteLedgerOptions, 'clock' | 'emit'>,
): Promise<string | undefined> {
  await using stack = new AsyncDisposableStack()
  const { store } = openToWrite({ ...options, file, init: 'never', mode: 'owner' }, stack)
  stack.use(store)
  return store.write((tables) => {
    const platform = tables.platform()
    tables.setPlatform(undefined)
    return platform
  }, 'free')
}

/** Reads one consistent state. @throws {LedgerError} */
export async function readSqliteArchive(
  options: Pick<SqliteLedgerOptions, 'file' | 'clock' | 'emit'>,
): Promise<Archive> {
  const { store, hashKey } = openToRead({ ...options, init: 'never', mode: 'reader' })
  await using _ = store
  return store.read((tables) => archiveOf(tables, hashKey))
}

function archiveOf(tables: ReadTables, hashKey: Uint8Array): Archive {
  return {
    hashKey,
    platform: tables.platform(),
    profile: tables.profile(),
    usedVersion: tables.usedVersion(),
    forgotten: [],
    rollback: undefined,
    records: tables.all(),
    history: tables.history(undefined, Number.MAX_SAFE_INTEGER).toReversed(),
  }
}

/**
 * Marks the ledger as moved: no further use or writes. A moved ledger is only saved again.
 * @param save makes it durable; if it throws, the ledger is not marked
 * @throws {LedgerError} also while a process owns it
 */
export async function moveSqlite(
  options: Pick<SqliteLedgerOptions, 'file' | 'clock' | 'emit'>,
  save: (archive: Archive) => void,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  try {
    const { store, hashKey } = openToWrite({ ...options, init: 'never', mode: 'owner' }, stack)
    stack.use(store)
    // No write between the two.
    store.write((tables) => {
      save(archiveOf(tables, hashKey))
      tables.setMovedAt(new Date(options.clock.now()).toISOString())
    }, 'free')
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== 'moved') throw error
    save(await readSqliteArchive(options))
  }
}

/** All or none. The ledger must not exist. @throws {LedgerError} */
export async function writeSqliteArchive(file: string, archive: Archive, now: number): Promise<void> {
  if (archive.rollback !== undefined)
    throw new LedgerError(
      'corrupt',
      `the export is of a ledger that was rolled back to an earlier state: ${archive.rollback}. No record was imported. Compare that ledger with ` +
        'the platform, adopt the existing pipes with "pipewright adopt", run "pipewright ledger accept", and export it again.',
    )
  makeFolderOf(file)
  const place = realFile(file)
  using _ = takeLease(place, now)
  if (ledgerExists(place)) throw isThere(`at ${file}`, await movedAtOf(place), 'give the file another name')
  createLedgerFile(place, now, archive)
}

async function movedAtOf(file: string): Promise<string | undefined> {
  const { store } = openReadStore(file, BUSY_TIMEOUT_MS)
  await using _ = store
  return store.read((tables) => tables.movedAt())
}
