import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import type { Ledger } from '../contract/ledger.ts'
import { createLedgerFile } from './initialise.ts'
import { createLedger } from './ledger-on-tables.ts'
import { ledgerExists, makeFolderOf, missing, realFile } from './location.ts'
import { takeOwnerLock } from './lease.ts'
import { openReadStore } from './read-store.ts'
import { tieToPlatform, untie } from './platform-binding.ts'
import { openWriteStore, type OpenedStore } from './write-store.ts'

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
   * The platform that is worked with. The first owner ties the ledger to it; with another one, its records would be
   * looked for where they never were, found missing, and created again. `undefined`, and a reader's: not compared.
   */
  readonly platform?: string | undefined
  /** Lines of history kept; 10,000 when absent. */
  readonly historyLimit?: number
  readonly clock: Clock
  readonly emit: Emit
  /** Longest wait for another writer's transaction, in ms; the process stands still meanwhile. 2,000 when absent. */
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
  if (options.mode !== 'reader') tieToPlatform(store, { ...options, mode: options.mode })
  const resources = stack.move()
  return createLedger({
    store: { ...store, [Symbol.asyncDispose]: () => resources.disposeAsync() },
    hashKey,
    emit: options.emit,
    clock: options.clock,
  })
}

/** As `untieLedger` in `open.ts`. */
export async function untieSqliteLedger(
  options: Pick<SqliteLedgerOptions, 'file' | 'clock' | 'emit'>,
): Promise<string | undefined> {
  await using stack = new AsyncDisposableStack()
  const { store } = openToWrite({ ...options, init: 'never', mode: 'writer' }, 'writer', stack)
  stack.use(store)
  return untie(store)
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
  let lock = mode === 'owner' ? stack.use(takeOwnerLock(file, now)) : undefined
  // a writer holds the lock only while it makes the ledger, or brings an older one up to date
  using brief = new DisposableStack()
  const lockOthersOut = () => {
    lock ??= brief.use(takeOwnerLock(file, now))
  }

  if (!ledgerExists(file)) {
    lockOthersOut()
    if (!ledgerExists(file)) createLedgerFile(file, now)
  }
  return openWriteStore({
    file,
    busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    historyLimit: options.historyLimit ?? HISTORY_LIMIT,
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
      '--ledger names the right file; restore it from a backup if it was lost; or, if this is indeed the first run, ' +
      'use --ledger-init=auto once.',
  )
}
