import { LedgerConflict, type Ledger, type OpenedLedger } from '../contract/ledger.ts'
import type { Emit } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'
import { newBinding, type Binding } from './binding.ts'
import { takeLease } from './lease.ts'
import { createLedgerFile, ledgerExists, makeFolderOf, missing, realFile } from './location.ts'
import { IN_MEMORY, type StoreOptions } from './connection.ts'
import { openStore, type Store } from './sqlite-store.ts'
import { hostname } from 'node:os'
import type { Key } from '../kinds/key.ts'
import { NotLeading, type Leader, type Leadership, type Term } from '../contract/leadership.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { decodeActivity, decodeEntry, decodeRecord } from './codec.ts'
import { createCommitQueue, keysIn, type Commit } from './commit-queue.ts'
import type { Tables } from './tables.ts'

export interface SqliteLedgerOptions extends Omit<StoreOptions, 'hashKey'>, Binding {
  /** `auto`: in mode `owner`, creates a missing ledger. */
  readonly init: 'auto' | 'never'
  readonly clock: Clock
  readonly emit: Emit
  /** Longest wait for another owner, in ms. It blocks the event loop. Default: 200. */
  readonly patienceMs?: number | undefined
}

export async function openSqlite(options: SqliteLedgerOptions): Promise<OpenedLedger> {
  await using stack = new AsyncDisposableStack()
  const store = options.mode === 'reader' ? openToRead(options) : openToWrite(options, stack)
  stack.use(store)
  bind(store, options)
  const opened = open(
    { ...store, [Symbol.asyncDispose]: () => resources.disposeAsync() },
    options.emit,
    options.clock,
  )
  const resources = stack.move()
  return opened
}

export function openMemoryLedger({
  hashKey,
  emit,
}: Pick<StoreOptions, 'hashKey'> & { readonly emit: Emit }): OpenedLedger {
  const clock = { monotonic: () => 0 }
  return open(openStore({ file: IN_MEMORY, mode: 'owner', clock, hashKey }), emit, clock)
}

function open(store: Store, emit: Emit, clock: Pick<Clock, 'monotonic'>): OpenedLedger {
  return {
    ledger: createLedger(store, emit, clock),
    leadership: createSoleLeadership(store),
    notes: {
      read: async () => store.read((tables) => tables.text('notes')),
      write: async (text) => store.write((tables) => tables.set('notes', text), 'free'),
    },
  }
}

export function openToRead(options: Omit<StoreOptions, 'mode'>): Store {
  const { file } = options
  if (!ledgerExists(file)) {
    throw missing(file, 'The ledger was never used, or --ledger names the wrong file.')
  }
  return openStore({ ...options, mode: 'reader', file: realFile(file) })
}

/** @param stack releases the lock when it is disposed */
export function openToWrite(
  options: Omit<SqliteLedgerOptions, 'mode' | 'emit'>,
  stack: AsyncDisposableStack,
): Store {
  const { init } = options
  if (init === 'auto') makeFolderOf(options.file)
  // Before the lock file is made, because `init: never` must not leave files if there is no ledger.
  if (!ledgerExists(options.file) && init === 'never') {
    throw missing(
      options.file,
      '--ledger-init=never forbids a first run. Check that the volume is mounted and --ledger names the right file. ' +
        'If the ledger was lost, restore it from a backup; "pipewright plan" shows what a new ledger would create and adopt. ' +
        'If this is the first run, use --ledger-init=auto once.',
    )
  }
  const file = realFile(options.file)
  stack.use(takeLease(file, options.clock.now(), options.patienceMs))
  if (!ledgerExists(file)) createLedgerFile(file)
  return openStore({ ...options, mode: 'owner', file })
}

/** Stores platform and profile. @throws {LedgerError} `platform` if the records have different values */
function bind(store: Store, { file, mode, ...wanted }: SqliteLedgerOptions): void {
  if (wanted.platform === undefined && wanted.profile === undefined) return
  const [bound, hasRecords] = store.read((tables) => [
    { platform: tables.text('platform'), profile: tables.text('profile') },
    !tables.isEmpty(),
  ])
  const next = newBinding(file, bound, wanted, hasRecords)
  if (mode === 'reader' || next === undefined) return
  store.write((tables) => {
    tables.set('platform', next.platform)
    tables.set('profile', next.profile)
  }, 'free')
}

/** For a ledger in a file. Its owner leads until the owner's process ends. */
function createSoleLeadership(store: Pick<Store, 'write'>): Leadership {
  const holder = `process ${process.pid} on ${hostname()}`
  let term: Term | undefined

  function begin(): Term {
    const over = new AbortController()
    const epoch = store.write((tables) => {
      const next = tables.count('epoch') + 1
      tables.set('epoch', next)
      return next
    }, 'free')
    return {
      epoch,
      // No request can be late, because the requests of the previous owner ended with its process.
      lateForMs: undefined,
      endsAt: () => Infinity,
      // No checkout can be stale, because each owner reads the same directory.
      revisionBefore: undefined,
      over: over.signal,
      async confirm() {
        over.signal.throwIfAborted()
        return Infinity
      },
      async release() {
        over.abort(new NotLeading('it was released', true))
      },
    }
  }

  function current(): Term {
    if (term === undefined || term.over.aborted) term = begin()
    return term
  }

  return {
    async acquire(signal) {
      signal.throwIfAborted()
      return current()
    },
    attempt: async () => current(),
    actOn: () => undefined,
    leader(): Leader | undefined {
      return term === undefined || term.over.aborted
        ? undefined
        : { holder, epoch: term.epoch, url: undefined }
    },
    async [Symbol.asyncDispose]() {
      await term?.release()
    },
  }
}

function createLedger(store: Store, emit: Emit, clock: Pick<Clock, 'monotonic'>): Ledger {
  const queue = createCommitQueue(store, clock)
  let closed: Promise<void> | undefined
  const toRead: Ledger['toRead'] = new Map()

  /** The record of each key as last returned, because decoding takes longer than a comparison of versions. */
  const given = new Map<Key, LedgerRecord>()

  function give(record: LedgerRecord): LedgerRecord {
    given.set(record.key, record)
    return record
  }

  async function commit(change: Commit): Promise<LedgerRecord | undefined> {
    const started = clock.monotonic()
    const report = (result: 'written' | 'conflict' | 'failed', message: string | undefined) =>
      emit({ type: 'LedgerWritten', result, durationMs: clock.monotonic() - started, message })
    try {
      const written = await queue.commit(change)
      report('written', undefined)
      return written && give(written)
    } catch (error) {
      for (const key of keysIn(change)) toRead.set(key, {})
      report(error instanceof LedgerConflict ? 'conflict' : 'failed', messageOf(error))
      throw error
    }
  }

  async function write(change: Commit & { readonly written: LedgerRecord }): Promise<LedgerRecord> {
    const written = await commit(change)
    if (written === undefined) throw new Error('bug: a write gave no record')
    return written
  }

  const isFailing = { LedgerRead: false, LedgerWritten: false }

  /** Runs work that changes no record. Emits each failure, and the first success after it. */
  function attempt<T>(type: keyof typeof isFailing, work: () => T, proves = true): T {
    queue.assertOpen()
    const started = clock.monotonic()
    const said = () => ({ durationMs: clock.monotonic() - started, message: undefined })
    try {
      const result = work()
      if (!proves) return result
      if (isFailing[type])
        emit(
          type === 'LedgerRead'
            ? { type, result: 'read', ...said() }
            : { type, result: 'written', ...said() },
        )
      isFailing[type] = false
      return result
    } catch (error) {
      isFailing[type] = true
      emit({ type, result: 'failed', ...said(), message: messageOf(error) })
      throw error
    }
  }

  async function read<T>(work: (tables: Tables) => T): Promise<T> {
    return attempt('LedgerRead', () => store.read(work))
  }

  return {
    hashKey: store.hashKey,
    isShared: false,
    toRead,
    aheadMs: 0,
    movedAt: store.movedAt(),
    get: (key) =>
      read((tables) => {
        const known = given.get(key)
        if (known !== undefined && tables.versionOf(key) === known.version) return known
        const stored = tables.get(key)
        return stored && give(decodeRecord(stored))
      }),
    list: () => read((tables) => tables.all().map((stored) => give(decodeRecord(stored)))),
    withIntent: (intentId) =>
      read((tables) => {
        const holders = tables.all().filter(({ body }) => body.includes(intentId))
        return holders
          .map((stored) => give(decodeRecord(stored)))
          .find(({ intent }) => intent?.id === intentId)
      }),
    swap: (written, history) => write({ removed: [], written, history, room: 'free' }),
    settle: (written, history) => write({ removed: [], written, history, room: 'reserved' }),
    async move(from, written, history) {
      if (from.key === written.key) throw new Error(`bug: ${from.key} cannot move to itself`)
      return write({ removed: [from], written, history, room: 'free' })
    },
    async remove(record, history) {
      await commit({ removed: [record], written: undefined, history, room: 'free' })
    },
    history: ({ key, limit }) =>
      read((tables) =>
        tables
          .history(key, Math.max(1, Math.floor(limit)))
          .map((entry) => decodeEntry(entry.key, entry.body)),
      ),
    async noteActivity(activity, checkedAt) {
      attempt('LedgerWritten', () =>
        store.write((tables) => {
          tables.set('activity', JSON.stringify(activity))
          for (const [key, at] of checkedAt) tables.setCheckedAt(key, at)
        }, 'free'),
      )
    },
    activity: () =>
      read((tables) => ({ last: decodeActivity(tables.text('activity')), checkedAt: tables.checkedAt() })),
    // Never calls back, because the lock keeps other processes from writing.
    watch: async () => () => undefined,
    async owned() {
      queue.assertOpen()
      return store.owned()
    },
    async assertCanSettle() {
      attempt('LedgerWritten', () => store.reserveRoom(), false) // no proof: the reserve is another file
    },
    async [Symbol.asyncDispose]() {
      queue.close()
      closed ??= store[Symbol.asyncDispose]()
      await closed
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
