import type { Clock } from '../lib/clock.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Emit } from '../contract/events.ts'
import type { HistoryEntry } from '../contract/history.ts'
import { LedgerConflict, LedgerError, type HistoryQuery, type Ledger } from '../contract/ledger.ts'
import { decodeActivity, decodeEntry, decodeRecord, encodeEntry, encodeRecord } from './codec.ts'
import type { Room, Store } from './backend.ts'
import { lacksRoom } from './sqlite-fault.ts'
import type { ReadTables, WriteTables } from './tables.ts'

interface LedgerParts {
  readonly store: Store
  readonly hashKey: Uint8Array
  readonly emit: Emit
  readonly clock: Pick<Clock, 'monotonic'>
}

interface Change {
  readonly removed: readonly LedgerRecord[]
  readonly written: LedgerRecord | undefined
  readonly history: readonly HistoryEntry[]
}

type Result = { readonly written: LedgerRecord | undefined } | { readonly error: unknown }

/** Until its transaction. */
interface Waiting {
  readonly change: Change
  readonly room: Room
  readonly resolve: (result: Result) => void
}

/**
 * The rules of a ledger over any backend. A key never gets the same version twice, even after its record was
 * forgotten: a stale writer could overwrite the new record.
 */
export function createLedger({ store, hashKey, emit, clock }: LedgerParts): Ledger {
  let closed: Promise<void> | undefined
  let failedWrites = 0

  /** Records as stored; a changed record is another object. */
  const given = new WeakSet<LedgerRecord>()

  function give(record: LedgerRecord): LedgerRecord {
    given.add(record)
    return record
  }

  function assertOpen(): void {
    if (closed !== undefined) throw new LedgerError('io', 'the ledger is closed')
  }

  /** For the next transaction, in the order of their calls. */
  let waiting: Waiting[] = []

  /** Changes of the same turn share a transaction, so a disk flush. */
  async function commit(change: Change, room: Room): Promise<LedgerRecord | undefined> {
    const started = clock.monotonic()
    const report = (result: 'written' | 'conflict' | 'failed', message: string | undefined) =>
      emit({ type: 'LedgerWritten', result, durationMs: clock.monotonic() - started, message })
    const result = await new Promise<Result>((resolve) => {
      waiting.push({ change, room, resolve })
      if (waiting.length === 1) store.soon(commitWaiting)
    })
    if ('error' in result) {
      const { error } = result
      failedWrites += 1
      const message = error instanceof Error ? error.message : String(error)
      report(error instanceof LedgerConflict ? 'conflict' : 'failed', message)
      throw error
    }
    report('written', undefined)
    return result.written && give(result.written)
  }

  function commitWaiting(): void {
    const changes = waiting
    waiting = []
    const together = changes.length > 1 ? commitTogether(changes) : []
    for (const [index, one] of changes.entries()) one.resolve(together[index] ?? commitAlone(one))
  }

  /** Undefined: to be tried alone. */
  function commitTogether(changes: readonly Waiting[]): readonly (Result | undefined)[] {
    try {
      assertOpen()
      return store.write((tables) => changes.map(({ change }) => resultOf(tables, change)), 'free')
    } catch (error) {
      // One change was impossible, or an outcome might find room in the reserve. Other results are unknown.
      const isTried = ({ room }: Waiting) =>
        !(error instanceof LedgerError) || (room === 'reserved' && lacksRoom(error.cause))
      return changes.map((one) => (isTried(one) ? undefined : { error }))
    }
  }

  function commitAlone({ change, room }: Waiting): Result {
    try {
      assertOpen()
      return { written: store.write((tables) => apply(tables, change), room) }
    } catch (error) {
      return { error }
    }
  }

  const isFailing = { LedgerRead: false, LedgerWritten: false }

  /**
   * Without changes of records, only failure and recovery emit an event.
   * @param proves whether success shows that the ledger works
   */
  function attempt<T>(type: keyof typeof isFailing, work: () => T, proves = true): T {
    assertOpen()
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
      const message = error instanceof Error ? error.message : String(error)
      emit({ type, result: 'failed', ...said(), message })
      throw error
    }
  }

  async function read<T>(work: (tables: ReadTables) => T): Promise<T> {
    return attempt('LedgerRead', () => store.read(work))
  }

  function list(): Promise<readonly LedgerRecord[]> {
    return read((tables) => tables.all().map((stored) => give(decodeRecord(stored))))
  }

  async function swap(next: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord> {
    return present(await commit({ removed: [], written: next, history }, 'free'))
  }

  async function settle(next: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord> {
    return present(await commit({ removed: [], written: next, history }, 'reserved'))
  }

  async function move(
    from: LedgerRecord,
    to: LedgerRecord,
    history: readonly HistoryEntry[],
  ): Promise<LedgerRecord> {
    if (from.key === to.key) throw new Error(`bug: ${from.key} cannot move to itself`)
    return present(await commit({ removed: [from], written: to, history }, 'free'))
  }

  async function remove(record: LedgerRecord, history: readonly HistoryEntry[]): Promise<void> {
    await commit({ removed: [record], written: undefined, history }, 'free')
  }

  return {
    hashKey,
    isShared: false,
    aheadMs: 0,
    get: (key, known) =>
      read((tables) => {
        const isGiven = known !== undefined && given.has(known)
        if (isGiven && tables.versionOf(key) === known.version) return known
        const stored = tables.get(key)
        return stored && give(decodeRecord(stored))
      }),
    list,
    withIntent: async (intentId) => (await list()).find(({ intent }) => intent?.id === intentId),
    swap,
    settle,
    move,
    remove,
    history: ({ key, limit }: HistoryQuery) =>
      read((tables) =>
        tables
          .history(key, Math.max(1, Math.floor(limit)))
          .map((entry) => decodeEntry(entry.key, entry.body)),
      ),
    async noteActivity(activity, checkedAt) {
      attempt('LedgerWritten', () =>
        store.write((tables) => {
          tables.setActivity(JSON.stringify(activity))
          for (const [key, at] of checkedAt) tables.setCheckedAt(key, at)
        }, 'free'),
      )
    },
    activity: () =>
      read((tables) => ({ last: decodeActivity(tables.activity()), checkedAt: tables.checkedAt() })),
    versions: () => read((tables) => tables.versions()),
    // Its lock keeps other processes out.
    watch: async () => () => undefined,
    async othersWrites() {
      assertOpen()
      return failedWrites + (store.othersWrites?.() ?? 0)
    },
    async owned() {
      assertOpen()
      return store.owned()
    },
    async prepareIntent() {
      attempt('LedgerWritten', () => store.reserveRoom(), false) // the reserve is a separate file
    },
    async [Symbol.asyncDispose]() {
      commitWaiting()
      closed ??= Promise.resolve(store[Symbol.asyncDispose]())
      await closed
    },
  }
}

/** A conflict writes nothing. Other changes can be in the same transaction. */
function resultOf(tables: WriteTables, change: Change): Result {
  try {
    return { written: apply(tables, change) }
  } catch (error) {
    if (error instanceof LedgerConflict) return { error }
    throw error
  }
}

function apply(tables: WriteTables, { removed, written, history }: Change): LedgerRecord | undefined {
  for (const record of removed) compare(tables, record)
  if (written !== undefined) compare(tables, written)
  const used = Math.max(tables.usedVersion(), ...removed.map((record) => record.version))
  const record = written && { ...written, version: (written.version === 0 ? used : written.version) + 1 }
  const stored = record && encodeRecord(record)

  for (const { key } of removed) tables.delete(key)
  if (removed.length > 0) tables.setUsedVersion(used)
  if (stored !== undefined) tables.put(stored)
  for (const entry of history) tables.addHistory(entry.key, encodeEntry(entry))
  return record
}

/** @throws {LedgerConflict} unless the record is at the version that its writer read */
function compare(tables: ReadTables, seen: LedgerRecord): void {
  const version = tables.versionOf(seen.key) ?? 0
  if (version !== seen.version) throw new LedgerConflict(seen.key, seen.version)
}

function present(record: LedgerRecord | undefined): LedgerRecord {
  if (record === undefined) throw new Error('bug: a write gave no record')
  return record
}
