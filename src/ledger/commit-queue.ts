import type { Key } from '../kinds/key.ts'
import type { Clock } from '../lib/clock.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { NewEntry } from '../contract/history.ts'
import { LedgerConflict, LedgerError } from '../contract/ledger.ts'
import { encodeRecord } from './codec.ts'
import { lacksRoom } from './sqlite-fault.ts'
import { IN_MEMORY } from './connection.ts'
import type { Room, Store } from './sqlite-store.ts'
import type { Tables } from './tables.ts'

export interface Commit {
  readonly removed: readonly LedgerRecord[]
  readonly written: LedgerRecord | undefined
  readonly history: readonly NewEntry[]
  readonly room: Room
}

type Result = { readonly written: LedgerRecord | undefined } | { readonly error: unknown }

/** ms. Longest wait of a commit. A commit waits only if another record was written within this time. */
const CROWD_MS = 100

/**
 * Changes that wait together share a transaction and its disk flush. A change waits at most as long as the
 * last flush took, and only if other records are being written.
 */
export function createCommitQueue(store: Pick<Store, 'file' | 'write'>, clock: Pick<Clock, 'monotonic'>) {
  let waiting: { readonly change: Commit; readonly resolve: (result: Result) => void }[] = []
  let last = { keys: new Set<Key>(), tookMs: 0, endedAt: -Infinity }
  let isClosed = false

  function commitSoon(change: Commit): void {
    if (store.file === IN_MEMORY) return commitWaiting()
    const startedAt = clock.monotonic()
    const isCrowd = startedAt - last.endedAt <= CROWD_MS && !last.keys.isSubsetOf(new Set(keysIn(change)))
    const until = startedAt + (isCrowd ? Math.min(last.tookMs, CROWD_MS) : 0)
    // No timer, because the shortest timer waits for a whole millisecond.
    const turn = () => void (clock.monotonic() < until ? setImmediate(turn) : commitWaiting())
    setImmediate(turn)
  }

  function commitWaiting(): void {
    const group = waiting
    waiting = []
    const startedAt = clock.monotonic()
    const changes = group.map(({ change }) => change)
    const together = changes.length > 1 ? commitTogether(changes) : []
    const results = changes.map((change, index) => together[index] ?? commitAlone(change))
    const endedAt = clock.monotonic()
    last = { keys: new Set(changes.flatMap(keysIn)), tookMs: endedAt - startedAt, endedAt }
    for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result) // one of each
  }

  /** @returns a result for each change. Undefined: the caller commits that change alone */
  function commitTogether(changes: readonly Commit[]): readonly (Result | undefined)[] {
    try {
      assertOpen()
      return store.write((tables) => changes.map((change) => resultOf(tables, change)), 'free')
    } catch (error) {
      // An error that is no LedgerError is a bug. Then each change is tried alone. On a full disk, only a change that
      // can use the reserve is tried.
      const isTried = ({ room }: Commit) =>
        !(error instanceof LedgerError) || (room === 'reserved' && lacksRoom(error.cause))
      return changes.map((change) => (isTried(change) ? undefined : { error }))
    }
  }

  function commitAlone(change: Commit): Result {
    try {
      assertOpen()
      return { written: store.write((tables) => apply(tables, change), change.room) }
    } catch (error) {
      return { error }
    }
  }

  function assertOpen(): void {
    if (isClosed) throw new LedgerError('io', 'the ledger is closed')
  }

  return {
    assertOpen,
    async commit(change: Commit): Promise<LedgerRecord | undefined> {
      const result = await new Promise<Result>((resolve) => {
        waiting.push({ change, resolve })
        if (waiting.length === 1) commitSoon(change)
      })
      if ('error' in result) throw result.error
      return result.written
    },
    close() {
      commitWaiting()
      isClosed = true
    },
  }
}

export function keysIn({ removed, written }: Commit): readonly Key[] {
  return [...removed, ...(written === undefined ? [] : [written])].map(({ key }) => key)
}

/** Returns a conflict and does not throw it, because the transaction can hold other changes. */
function resultOf(tables: Tables, change: Commit): Result {
  try {
    return { written: apply(tables, change) }
  } catch (error) {
    if (error instanceof LedgerConflict) return { error }
    throw error
  }
}

/**
 * A key never gets the same version twice, even after its record was removed. Otherwise a stale writer could
 * overwrite the new record.
 */
function apply(tables: Tables, { removed, written, history }: Commit): LedgerRecord | undefined {
  for (const record of removed) compare(tables, record)
  if (written !== undefined) compare(tables, written)
  const used = () => Math.max(tables.count('used_version'), ...removed.map(({ version }) => version))
  const record = written && { ...written, version: (written.version || used()) + 1 }
  const stored = record && encodeRecord(record)

  for (const { key } of removed) tables.delete(key)
  if (removed.length > 0) tables.set('used_version', used())
  if (stored !== undefined) tables.put(stored)
  for (const entry of history) tables.addHistory(entry.key, JSON.stringify(entry))
  return record
}

function compare(tables: Tables, seen: LedgerRecord): void {
  const version = tables.versionOf(seen.key) ?? 0
  if (version !== seen.version) throw new LedgerConflict(seen.key, seen.version)
}
