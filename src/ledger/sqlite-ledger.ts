import type { Clock } from '../lib/clock.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Emit } from '../contract/events.ts'
import { LedgerConflict, type Ledger } from '../contract/ledger.ts'
import { decodeActivity, decodeEntry, decodeRecord } from './codec.ts'
import { type Commit, createCommitQueue, keysIn } from './commit-queue.ts'
import type { Store } from './sqlite-store.ts'
import type { Tables } from './tables.ts'

export function createLedger(store: Store, emit: Emit, clock: Pick<Clock, 'monotonic'>): Ledger {
  const queue = createCommitQueue(store, clock)
  let closed: Promise<void> | undefined
  const toRead: Ledger['toRead'] = new Map()

  const given = new WeakSet<LedgerRecord>()

  function give(record: LedgerRecord): LedgerRecord {
    given.add(record)
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
    get: (key, known) =>
      read((tables) => {
        const isGiven = known !== undefined && given.has(known)
        if (isGiven && tables.versionOf(key) === known.version) return known
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
