import { anyOf, capital, nounOf } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import { sleep } from '../../lib/clock.ts'
import type { LedgerRecord, Remote, Seen } from '../../plan/record.ts'
import { replacedAfter } from '../../plan/missing.ts'
import { failIntent, leaveIntentUnknown, reopenIntent, succeedIntent } from '../../plan/transitions.ts'
import type { ReconcileContext } from '../context.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import { LedgerConflict, LedgerError } from '../../contract/ledger.ts'
import type { Failed } from '../../plan/outcome.ts'
import type { Because } from '../../plan/reason.ts'
import type { Event } from '../../contract/events.ts'

/** How a create ended. */
export type CreateEnd =
  | { readonly type: 'created'; readonly remote: Remote }
  | { readonly type: 'failed' | 'unknown'; readonly seen: Seen }

/** What became of an intent, until the ledger says so too. */
export interface PendingOutcome {
  readonly intentId: string
  /** The record as it was when the intent was written; undefined when it is not known to have been. */
  readonly opened: LedgerRecord | undefined
  readonly end: CreateEnd
  readonly history: readonly HistoryEntry[]
}

/**
 * Outcomes of creates that must reach the ledger: a disk that is full for a moment, or another writer in between, must
 * not lose an id. What cannot be written at once is kept in memory, and tried again before the key's next reconcile.
 */
export interface OutcomeOutbox {
  /**
   * Writes the outcome of an intent, against whatever the record is by then. It is kept until it is written, also when
   * this throws.
   * @returns the record as written, or `undefined` when it could not be written yet
   */
  persist(key: Key, outcome: PendingOutcome): Promise<LedgerRecord | undefined>
  /** Keeps an outcome for the key's next reconcile. */
  remember(key: Key, outcome: PendingOutcome): void
  /** Writes what is kept for a key, if anything. @throws {LedgerError} when it still cannot be written */
  recover(key: Key): Promise<void>
  /**
   * Tries once more to write all that is kept: there is no next reconcile.
   * @param until when a ledger that takes nothing is not waited for any more; it is tried once when absent
   * @returns what could not be written
   */
  recoverAll(until?: AbortSignal): Promise<ReadonlyMap<Key, CreateEnd>>
  /** Outcomes that are not on disk. */
  readonly pending: ReadonlyMap<Key, PendingOutcome>
  /** Marks a key while its create is under way. */
  during<T>(key: Key, create: () => Promise<T>): Promise<T>
  /** Whether a create of this process is under way for a key, or its outcome not on disk: its record stays where it is. */
  isBusy(key: Key): boolean
}

const TRIES = 6
const FIRST_WAIT_MS = 50

/** At the end, whoever holds the ledger, such as a backup tool, is given so long: ms. */
const LAST_MS = 10_000
const LAST_WAIT_MS = 250
/** What is being written when the time is over has so long left: ms. */
const AFTER_END_MS = 2_000

export function createOutcomeOutbox({
  ledger,
  clock,
  store,
}: Pick<ReconcileContext, 'ledger' | 'clock' | 'store'>): OutcomeOutbox {
  const kept = new Map<Key, PendingOutcome>()
  const underWay = new Set<Key>()
  /** Outcomes take priority over any stop: these waits are short and end by their number. */
  const never = new AbortController().signal

  /** @param known the record of the key */
  async function write(
    known: LedgerRecord | undefined,
    { intentId, opened, end, history }: PendingOutcome,
  ): Promise<LedgerRecord | undefined> {
    // Another process may have moved it: then the outcome is one of its new key.
    const found = known?.intent?.id === intentId ? known : ((await ledger.withIntent(intentId)) ?? known)
    if (found === undefined && end.type !== 'created') return undefined
    const record = withOurIntent(found, { intentId, opened, end })
    if (record === undefined) return undefined
    const { intent, key } = record
    const told = history.map((entry) => ({ ...entry, key }))
    // What a person said meanwhile stands, unless we hold the id that proves otherwise; and no pipe that they gave the key is
    // given up for it. What we saw is kept in the history.
    const counts =
      intent?.id === intentId &&
      (intent.state === 'open' || (end.type === 'created' && intent.state !== 'succeeded'))
    if (counts) return ledger.settle(settled(record, end), told)
    return told.length === 0 ? record : ledger.settle(record, told)
  }

  /** An id that we hold is recorded also when a person forgot the key meanwhile, or its record was put back to before the intent. */
  function withOurIntent(
    found: LedgerRecord | undefined,
    { intentId, opened, end }: Omit<PendingOutcome, 'history'>,
  ): LedgerRecord | undefined {
    if (opened === undefined || end.type !== 'created' || found?.intent?.id === intentId) return found
    return found === undefined ? { ...opened, version: 0 } : (reopenIntent(found, opened) ?? found)
  }

  function settled(record: LedgerRecord, end: CreateEnd): LedgerRecord {
    const { intent } = record
    if (intent === undefined) throw new Error('an outcome is that of an intent')
    switch (end.type) {
      case 'created': {
        const replaced = replacedAfter(record.replaced, record.former?.remote.id, store.steadyNow())
        return succeedIntent(record, intent, { remote: end.remote, replaced })
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
    for (let attempt = 1; ; attempt += 1) {
      try {
        await write(await ledger.get(key), outcome)
        break
      } catch (error) {
        // What another one wrote is seen from then on.
        if (!(error instanceof LedgerConflict) || attempt === TRIES) throw error
      }
    }
    kept.delete(key)
  }

  /** Side by side: a ledger that does not answer must not take its time for each of them. */
  async function tryAll(): Promise<void> {
    const tries = [...kept.keys()].map((key) =>
      recover(key).catch((error: unknown) => {
        if (!(error instanceof LedgerConflict) && !(error instanceof LedgerError)) throw error
      }),
    )
    await Promise.all(tries)
  }

  /** A while after the signal: what is under way may end well. */
  function ended(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => void clock.after(AFTER_END_MS, resolve)
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    })
  }

  return {
    pending: kept,
    async persist(key, outcome) {
      kept.set(key, outcome)
      let record: LedgerRecord | undefined = outcome.opened
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        // Also before the first one: where the ledger was put back, another record may be at the version of this one.
        record = await ledger.get(key).catch(() => record)
        try {
          const written = await write(record, outcome)
          kept.delete(key)
          return written
        } catch (error) {
          if (!(error instanceof LedgerConflict) && !(error instanceof LedgerError)) throw error
          if (error instanceof LedgerError) await sleep(clock, FIRST_WAIT_MS * 2 ** attempt, never)
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
    async recoverAll(until = AbortSignal.abort()) {
      await Promise.race([tryAll(), ended(until)])
      const isWorthIt = () => kept.size > 0 && !until.aborted
      for (let waited = 0; isWorthIt() && waited < LAST_MS; waited += LAST_WAIT_MS) {
        await sleep(clock, LAST_WAIT_MS, until).catch(() => undefined) // then it is tried for the last time
        await Promise.race([tryAll(), ended(until)])
      }
      return new Map([...kept].map(([key, { end }]) => [key, end]))
    },
  }
}

/* What is said of a create whose outcome is known, and not on disk. */

/** What is known of an outcome that is in memory only. */
export function unsavedBecause(key: Key, end: CreateEnd): Because<'OutcomeUnsaved'> {
  const facts =
    end.type === 'created'
      ? ({ key, end: 'created', pipeId: end.remote.id, seen: '' } as const)
      : { key, end: end.type, seen: end.seen.what }
  return { reason: 'OutcomeUnsaved', facts }
}

export function unsavedOutcome(because: Because, requestId: string | undefined): Failed {
  return { result: 'failed', ...because, requestId, retryAfterMs: 1_000 }
}

/**
 * What a process says last of a create whose outcome it could not write down: the next one does not know it.
 * @param typed a command line of Pipewright, as it is typed here
 */
export function lastWords(
  key: Key,
  end: CreateEnd,
  typed: (args: string) => string,
): Event & { readonly type: 'OutcomeLost' } {
  const common = { type: 'OutcomeLost', key } as const
  const then = 'Once the ledger can be written, and before anything else:'
  switch (end.type) {
    case 'created': {
      const { id } = end.remote
      const command = typed(`resolve ${key} --adopt ${id}`)
      const message = `${capital(nounOf(key))} ${id} was created for ${key}, and the ledger does not hold its id. ${then} ${command}`
      return { ...common, outcome: 'created', pipeId: id, command, message }
    }
    case 'failed': {
      const command = typed(`resolve ${key} --retry --force`)
      const message = `Nothing was created for ${key} (${end.seen.what}), and the ledger does not know that. ${then} ${command}`
      return { ...common, outcome: 'failed', pipeId: undefined, command, message }
    }
    case 'unknown': {
      const command = typed(`status ${key}`)
      const message = `Nobody knows whether ${anyOf(nounOf(key))} was created for ${key} (${end.seen.what}); the ledger says only that it was tried. ${then} ${command}`
      return { ...common, outcome: 'unknown', pipeId: end.seen.pipeId, command, message }
    }
  }
}
