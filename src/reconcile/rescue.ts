import type { Key } from '../kinds/key.ts'
import { sleep } from '../lib/clock.ts'
import type { LedgerRecord, RecordedPipe, Seen } from '../plan/record.ts'
import { replacedAfter } from '../plan/replacement.ts'
import { failIntent, leaveIntentUnknown, succeedIntent } from '../plan/transitions.ts'
import type { Deps } from './deps.ts'
import type { HistoryEntry } from './history.ts'
import { LedgerConflict, LedgerError } from './ports.ts'

/** How a create ended. */
export type CreateEnd =
  | { readonly type: 'created'; readonly pipe: RecordedPipe }
  | { readonly type: 'failed' | 'unknown'; readonly seen: Seen }

/** What became of an intent, until the ledger says so too. */
export interface Unsaved {
  readonly intentId: string
  /** The record as it was when the intent was written; undefined when it is not known to have been. */
  readonly opened: LedgerRecord | undefined
  readonly end: CreateEnd
  readonly history: readonly HistoryEntry[]
}

/**
 * Outcomes of creates that must reach the ledger: a disk that is full for a moment, or another writer in between, must
 * not lose an id. What cannot be written at once is kept in memory, and tried again before the key's next turn.
 */
export interface Rescue {
  /**
   * Writes the outcome of an intent, against whatever the record is by then. It is kept until it is written, also when
   * this throws.
   * @returns the record as written, or `undefined` when it could not be written yet
   */
  persist(key: Key, outcome: Unsaved): Promise<LedgerRecord | undefined>
  /** Keeps an outcome for the key's next turn. */
  remember(key: Key, outcome: Unsaved): void
  /** Writes what is kept for a key, if anything. @throws {LedgerError} when it still cannot be written */
  recover(key: Key): Promise<void>
  /** Tries once more to write all that is kept: there is no next turn. @returns what could not be written */
  recoverAll(): Promise<ReadonlyMap<Key, CreateEnd>>
  /** Outcomes that are not on disk. */
  readonly pending: ReadonlyMap<Key, Unsaved>
  /** Marks a key while its create is under way. */
  during<T>(key: Key, create: () => Promise<T>): Promise<T>
  /** Whether a create of this process is under way for a key, or its outcome not on disk: its record stays where it is. */
  isBusy(key: Key): boolean
}

const TRIES = 6
const FIRST_WAIT_MS = 50

export function createRescue({ ledger, clock, world }: Pick<Deps, 'ledger' | 'clock' | 'world'>): Rescue {
  const kept = new Map<Key, Unsaved>()
  const underWay = new Set<Key>()
  /** Outcomes take priority over any stop: these waits are short and end by their number. */
  const never = new AbortController().signal

  async function write(
    found: LedgerRecord | undefined,
    { intentId, opened, end, history }: Unsaved,
  ): Promise<LedgerRecord | undefined> {
    // A person forgot the key meanwhile. An id that we hold is recorded all the same.
    const record = found ?? (opened && { ...opened, version: 0 })
    if (record === undefined || (found === undefined && end.type !== 'created')) return undefined
    const { intent } = record
    const isOurs = intent?.id === intentId
    // What a person said meanwhile stands, unless we hold the id that proves otherwise; and no pipe that they gave the key is
    // given up for it. What we saw is kept in the history.
    const counts =
      isOurs && (intent.state === 'open' || (end.type === 'created' && intent.state !== 'succeeded'))
    if (counts) return ledger.settle(settled(record, end), history)
    return history.length === 0 ? record : ledger.settle(record, history)
  }

  function settled(record: LedgerRecord, end: CreateEnd): LedgerRecord {
    const { intent } = record
    if (intent === undefined) throw new Error('an outcome is that of an intent')
    switch (end.type) {
      case 'created': {
        const replaced = replacedAfter(record.replaced, record.former?.pipe.id, world.steadyNow())
        return succeedIntent(record, intent, { pipe: end.pipe, replaced })
      }
      case 'failed':
        return failIntent(record, intent, end.seen)
      case 'unknown':
        return leaveIntentUnknown(record, intent, end.seen)
    }
  }

  async function recover(key: Key): Promise<void> {
    const outcome = kept.get(key)
    if (outcome === undefined) return
    await write(await ledger.get(key), outcome)
    kept.delete(key)
  }

  return {
    pending: kept,
    async persist(key, outcome) {
      kept.set(key, outcome)
      let record: LedgerRecord | undefined = outcome.opened
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        try {
          const written = await write(record, outcome)
          kept.delete(key)
          return written
        } catch (error) {
          if (!(error instanceof LedgerConflict) && !(error instanceof LedgerError)) throw error
          if (error instanceof LedgerError) await sleep(clock, FIRST_WAIT_MS * 2 ** attempt, never)
          record = await ledger.get(key).catch(() => record)
        }
      }
      return undefined
    },
    remember(key, outcome) {
      kept.set(key, outcome)
    },
    recover,
    async during(key, create) {
      underWay.add(key)
      try {
        return await create()
      } finally {
        underWay.delete(key)
      }
    },
    isBusy: (key) => underWay.has(key) || kept.has(key),
    async recoverAll() {
      for (const key of kept.keys()) {
        await recover(key).catch((error: unknown) => {
          if (!(error instanceof LedgerConflict) && !(error instanceof LedgerError)) throw error
        })
      }
      return new Map([...kept].map(([key, { end }]) => [key, end]))
    },
  }
}
