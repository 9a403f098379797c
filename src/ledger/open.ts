import { type Ledger, LedgerError } from '../contract/ledger.ts'
import { createMemoryLedger } from './memory-backend.ts'
import type { Store } from './backend.ts'
import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { createLedgerFile, ledgerExists, makeFolderOf, missing, realFile } from './location.ts'
import { createLedger } from './ledger-on-tables.ts'
import { takeLease } from './lease.ts'
import { openReadStore } from './read-store.ts'
import { openWriteStore, type OpenedStore } from './write-store.ts'

/**
 * Opens the ledger that `--ledger` names: `sqlite:PATH` or `memory:`.
 * @throws {LedgerError} also when the text names no backend that there is
 */
export async function openLedger(url: string, options: Omit<SqliteLedgerOptions, 'file'>): Promise<Ledger> {
  if (url === 'memory:') return createMemoryLedger({ emit: options.emit })
  return openSqliteLedger({ ...options, file: fileOf(url) })
}

/**
 * Ends the binding of a ledger to the platform it was used with, which has moved; the next owner binds it to its own.
 * @returns what it was bound to
 * @throws {LedgerError}
 */
export async function unbindLedger(
  url: string,
  options: Pick<SqliteLedgerOptions, 'clock' | 'emit'>,
): Promise<string | undefined> {
  if (url === 'memory:') return undefined
  await using stack = new AsyncDisposableStack()
  const { store } = openToWrite(
    { ...options, file: fileOf(url), init: 'never', mode: 'writer' },
    'writer',
    stack,
  )
  stack.use(store)
  return store.write((tables) => {
    const platform = tables.platform()
    tables.setPlatform(undefined)
    return platform
  }, 'free')
}

function fileOf(url: string): string {
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ''
  // sqlite://ledger.db would be a file in the root folder, which nobody means
  if (file === '' || file.startsWith(':') || /^\/\/[^/]/.test(file) || file.includes('\0')) {
    throw new LedgerError(
      'io',
      `there is no ledger of the kind "${url}": give sqlite:PATH, such as sqlite:.pipewright/ledger.db or ` +
        'sqlite:/var/lib/pipewright/ledger.db, or memory: for one that ends with the process',
    )
  }
  return file
}

/**
 * Binds a ledger to the profile of its first owner. One without a binding is of the default profile, as all were once.
 * @throws {LedgerError} `platform` when it is bound to another one
 */
function bindToProfile(store: Store, { file, mode, profile }: SqliteLedgerOptions): void {
  if (profile === undefined) return
  const wanted = profile === DEFAULT.name ? undefined : profile
  const bound = store.read((tables) => ({ to: tables.profile(), records: tables.versions().size }))
  if (bound.to === wanted) return
  if (bound.records > 0) {
    const used = bound.to ?? DEFAULT.name
    throw new LedgerError(
      'platform',
      `the ledger ${file} is of another profile: it was used with --profile ${used}, and this is ${profile}. What it holds is of ` +
        `another service. Give --profile ${used}, or name another ledger with --ledger.`,
    )
  }
  if (mode === 'owner') store.write((tables) => tables.setProfile(wanted), 'free')
}

/**
 * Binds a ledger to the platform of its first owner.
 * @throws {LedgerError} `platform` when it is bound to another one
 */
function bindToPlatform(store: Store, { file, mode, platform }: SqliteLedgerOptions): void {
  if (platform === undefined) return
  const bound = store.read((tables) => ({ to: tables.platform(), records: tables.versions().size }))
  if (bound.to === platform) return
  if (bound.to !== undefined && bound.records > 0) throw otherPlatform(file, bound.to, platform)
  if (mode === 'owner') store.write((tables) => tables.setPlatform(platform), 'free')
}

function otherPlatform(file: string, bound: string, platform: string): LedgerError {
  return new LedgerError(
    'platform',
    `the ledger ${file} is of another platform: it was used with ${bound}, and this is ${platform}. Its pipes would not be found ` +
      'there, and would be created again. Give --base-url as it was; or name another ledger with --ledger; or, if it is ' +
      'the same platform under a new address, run "pipewright forget --platform" once.',
  )
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
  await using stack = new AsyncDisposableStack()
  const { store, hashKey } =
    options.mode === 'reader' ? openToRead(options) : openToWrite(options, options.mode, stack)
  stack.use(store)
  bindToProfile(store, options)
  bindToPlatform(store, options)
  const resources = stack.move()
  return createLedger({
    store: { ...store, [Symbol.asyncDispose]: () => resources.disposeAsync() },
    hashKey,
    emit: options.emit,
    clock: options.clock,
  })
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
