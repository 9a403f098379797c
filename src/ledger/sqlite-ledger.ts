import { type Ledger, LedgerError, type OpenedLedger } from '../contract/ledger.ts'
import type { ReadTables, Store } from './backend.ts'
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
import { openWriteStore, type OpenedStore } from './write-store.ts'

/** Refuses a ledger that is bound to something else; the first owner binds it. @throws {LedgerError} `platform` */
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
  /** Whether a missing ledger is a first run, or an error. A reader never makes one. */
  readonly init: 'auto' | 'never'
  /**
   * `owner`: the one daemon or `apply`; a second one is refused for as long as it lives.
   * `writer`: a person's command, also beside an owner. `reader`: changes nothing on disk.
   */
  readonly mode: 'owner' | 'writer' | 'reader'
  /**
   * The platform that is worked with. The first owner binds the ledger to it; with another one, its records would be
   * looked for where they never were, found missing, and created again. `undefined`: not compared.
   */
  readonly platform?: string | undefined
  /** As `platform`: the name of the profile that is worked with. */
  readonly profile?: string | undefined
  /** Lines of history kept; 10,000 when absent. */
  readonly historyLimit?: number
  readonly clock: Clock
  readonly emit: Emit
  /** Longest wait for another writer's transaction, in ms; the process stands still meanwhile, once in ten seconds. 2,000 when absent. */
  readonly busyTimeoutMs?: number
  /** For tests: called in each transaction before it is committed; what it throws, SQLite is taken to have thrown. */
  readonly beforeCommit?: (() => void) | undefined
}

/**
 * The ledger in one SQLite file (design §9). A write is on disk, and in the file itself, when it is done.
 * @throws {LedgerError} `locked`, `corrupt`, `newer`, `missing` or `io`; the message says what to do
 */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  return (await openSqlite(options)).ledger
}

/** The same, with who acts. @throws {LedgerError} */
export async function openSqlite(options: SqliteLedgerOptions): Promise<OpenedLedger> {
  await using stack = new AsyncDisposableStack()
  const { store, hashKey } =
    options.mode === 'reader' ? openToRead(options) : openToWrite(options, options.mode, stack)
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
    throw missing(file, 'Nothing was reconciled with it yet, or --ledger should name another file.')
  }
  return openReadStore(realFile(file), busyTimeoutMs ?? BUSY_TIMEOUT_MS)
}

function openToWrite(
  options: SqliteLedgerOptions,
  mode: 'owner' | 'writer',
  stack: AsyncDisposableStack,
): OpenedStore {
  if (options.init === 'auto') makeFolderOf(options.file)
  assertMayStart(options)
  const file = realFile(options.file)
  const now = options.clock.now()
  let lease = mode === 'owner' ? stack.use(takeLease(file, now)) : undefined
  // a writer holds the lease only while it makes the ledger, or brings an older one up to date
  using brief = new DisposableStack()
  const lockOthersOut = () => {
    lease ??= brief.use(takeLease(file, now))
  }

  if (!ledgerExists(file)) {
    lockOthersOut()
    if (!ledgerExists(file)) createLedgerFile(file, now)
  }
  return openWriteStore({
    file,
    busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    historyLimit: options.historyLimit ?? HISTORY_LIMIT,
    clock: options.clock,
    beforeCommit: options.beforeCommit,
    beforeMigration: lockOthersOut,
  })
}

/** Before anything is touched: with `init: never`, not even the folder is made. */
function assertMayStart({ file, init }: SqliteLedgerOptions): void {
  if (ledgerExists(file) || init === 'auto') return
  throw missing(
    file,
    'This would have been a first run, which --ledger-init=never forbids: see that the volume is mounted and ' +
      '--ledger names the right file. If it was lost, restore it from a backup; "pipewright plan" works without it, and says ' +
      'what would be created and what a Lock would take over. If this is indeed the first run, use --ledger-init=auto once.',
  )
}

/** Ends the binding to the platform. @returns what it was bound to @throws {LedgerError} */
export async function unbindSqlite(
  file: string,
  options: Pick<SqliteLedgerOptions, 'clock' | 'emit'>,
): Promise<string | undefined> {
  await using stack = new AsyncDisposableStack()
  const { store } = openToWrite({ ...options, file, init: 'never', mode: 'writer' }, 'writer', stack)
  stack.use(store)
  return store.write((tables) => {
    const platform = tables.platform()
    tables.setPlatform(undefined)
    return platform
  }, 'free')
}

/** All that a ledger holds, at one moment. @throws {LedgerError} */
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
    setBack: undefined,
    lost: undefined,
    records: tables.all(),
    history: tables.history(undefined, Number.MAX_SAFE_INTEGER).toReversed(),
  }
}

/**
 * Saves all that a ledger holds, and marks it as moved: nothing acts with it any more, nor writes to it. One that was moved already is saved
 * once more, as nothing has changed.
 * @param save is to make it durable; when it throws, nothing is marked
 * @throws {LedgerError} also while somebody owns it
 */
export async function moveSqlite(
  options: Pick<SqliteLedgerOptions, 'file' | 'clock' | 'emit'>,
  save: (archive: Archive) => void,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  try {
    const { store, hashKey } = openToWrite({ ...options, init: 'never', mode: 'owner' }, 'owner', stack)
    stack.use(store)
    // Nobody writes between the two.
    store.write((tables) => {
      save(archiveOf(tables, hashKey))
      tables.setMovedAt(new Date(options.clock.now()).toISOString())
    }, 'free')
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== 'moved') throw error
    save(await readSqliteArchive(options))
  }
}

/** Makes a ledger of what another one held; there must be none. All of it is there, or nothing. @throws {LedgerError} */
export async function writeSqliteArchive(file: string, archive: Archive, now: number): Promise<void> {
  if (archive.setBack !== undefined)
    throw new LedgerError(
      'corrupt',
      `the export is of a ledger that was put back to an earlier state: ${archive.setBack}. Nothing was imported. Compare that ledger with ` +
        'the platform, say what is there with "pipewright adopt", run "pipewright ledger accept", and export it again.',
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
