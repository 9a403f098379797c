import { anyOf, capital, nounOf } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import { sleep } from '../../lib/clock.ts'
import { backoffMs } from '../../lib/retry.ts'
import type { LedgerRecord, Remote, Seen } from '../../plan/record.ts'
import { failIntent, leaveIntentUnknown, reopenIntent, succeedIntent } from '../../plan/transitions.ts'
import type { ReconcileContext } from '../context.ts'
import type { NewEntry } from '../../contract/history.ts'
import { LedgerConflict, LedgerError } from '../../contract/ledger.ts'
import { recordedHolder } from './other-owners.ts'
import type { Failed } from '../../plan/outcome.ts'
import type { Because } from '../../plan/reason.ts'
import type { Event } from '../../contract/events.ts'

export type CreateEnd =
  | { readonly type: 'created'; readonly remote: Remote }
  | { readonly type: 'failed' | 'unknown'; readonly seen: Seen }

export interface PendingOutcome {
  readonly intentId: string
  readonly opened: LedgerRecord | undefined
  readonly end: CreateEnd
  readonly history: readonly NewEntry[]
}

/**
 * Keeps create outcomes until the ledger has them, because a full disk or a conflict must not lose an id. Each
 * outcome is written before the key's next reconcile.
 */
export interface OutcomeOutbox {
  /** Adds the outcome to the newest record, with retries. @returns undefined: not written */
  persist(key: Key, outcome: PendingOutcome): Promise<LedgerRecord | undefined>
  remember(key: Key, outcome: PendingOutcome): void
  /** @throws {LedgerError} */
  recover(key: Key): Promise<void>
  /** Writes the ids that earlier creates brought. @throws {LedgerError} */
  saveIds(): Promise<void>
  /** Before the process ends, writes all outcomes. @param until ends retries; default: one try @returns unsaved outcomes */
  recoverAll(until?: AbortSignal): Promise<ReadonlyMap<Key, CreateEnd>>
  readonly pending: ReadonlyMap<Key, PendingOutcome>
  during<T>(key: Key, create: () => Promise<T>): Promise<T>
  /** Whether a create is in flight or its outcome is unwritten. */
  isBusy(key: Key): boolean
}

/** Ms. A write whose reply is lost can reach the ledger this much later. */
const LATE_MS = 15 * 60_000

const TRIES = 6
const WAIT = { firstMs: 50 }

/** Ms. A locked ledger is retried this long before the process ends. */
const LAST_MS = 10_000
const LAST_WAIT_MS = 250
const AFTER_END_MS = 2_000

export function createOutcomeOutbox({
  ledger,
  clock,
  store,
}: Pick<ReconcileContext, 'ledger' | 'clock' | 'store'>): OutcomeOutbox {
  const kept = new Map<Key, PendingOutcome>()
  /** Attempts that were not sent, but of which the ledger might still get the intent. */
  const late = new Map<Key, readonly { readonly outcome: PendingOutcome; readonly until: number }[]>()
  const underWay = new Set<Key>()
  /** Never aborted, because a stop must not end the short waits between tries. */
  const never = new AbortController().signal

  async function write(
    known: LedgerRecord | undefined,
    { intentId, opened, end, history }: PendingOutcome,
  ): Promise<LedgerRecord | undefined> {
    // A move might have given the record another key.
    const found = known?.intent?.id === intentId ? known : ((await ledger.withIntent(intentId)) ?? known)
    if (found === undefined && end.type !== 'created') return undefined
    const record = withOurIntent(found, { intentId, opened, end })
    if (record === undefined) return undefined
    const { intent, key } = record
    const told = history.map((entry) => ({ ...entry, key }))
    const now = await unlessHeld(end, key)
    // An outcome is written while the attempt is open. An id is written even after an operator dismissed the attempt,
    // but not after an adoption.
    const counts =
      intent?.id === intentId &&
      (intent.state === 'open' || (now.type === 'created' && intent.state !== 'succeeded'))
    if (counts) return ledger.settle(settled(record, now), told)
    return told.length === 0 ? record : ledger.settle(record, told)
  }

  /** Another leader might have given the pipe to another key. Then a person decides about this key. */
  async function unlessHeld(end: CreateEnd, key: Key): Promise<CreateEnd> {
    if (end.type !== 'created') return end
    const { id, requestId } = end.remote
    const holder = await recordedHolder({ ledger, store }, id, key).catch((error: unknown) => {
      // An unreadable record must not block the outcome of another key.
      if (!(error instanceof LedgerError && error.code === 'corrupt')) throw error
      return undefined
    })
    if (holder === undefined) return end
    const what = `the platform answered 200 with the id "${id}", which belongs to ${holder}`
    return { type: 'unknown', seen: { at: clock.now(), httpStatus: 200, requestId, what } }
  }

  /** The record for the id, even if the key was forgotten or an older ledger was restored. */
  function withOurIntent(
    found: LedgerRecord | undefined,
    { intentId, opened, end }: Omit<PendingOutcome, 'history'>,
  ): LedgerRecord | undefined {
    if (opened === undefined || end.type !== 'created' || found?.intent?.id === intentId) return found
    return found === undefined ? { ...opened, version: 0 } : (reopenIntent(found, opened) ?? found)
  }

  function settled(record: LedgerRecord, end: CreateEnd): LedgerRecord {
    const { intent } = record
    if (intent === undefined) throw new Error('an outcome needs an intent')
    switch (end.type) {
      case 'created':
        return succeedIntent(record, intent, { remote: end.remote, steadyNow: store.steadyNow() })
      case 'failed':
        return failIntent(record, intent, end.seen)
      case 'unknown':
        return leaveIntentUnknown(record, intent, end.seen)
    }
  }

  async function recover(key: Key): Promise<void> {
    const outcome = kept.get(key)
    if (outcome !== undefined) {
      await writeAgain(key, outcome)
      if (outcome.opened === undefined) noteLate(key, outcome)
      kept.delete(key)
    }
    const unsent = late.get(key)
    const intentId = unsent && (await ledger.get(key))?.intent?.id
    const arrived = unsent?.find(({ outcome: { intentId: id } }) => id === intentId)
    if (arrived !== undefined) await writeAgain(key, arrived.outcome)
  }

  function noteLate(key: Key, outcome: PendingOutcome): void {
    const now = clock.monotonic()
    const others = late.get(key)?.filter(({ until }) => until > now) ?? []
    late.set(key, [...others, { outcome, until: now + LATE_MS }])
  }

  async function writeAgain(key: Key, outcome: PendingOutcome): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await write(await ledger.get(key), outcome)
        return
      } catch (error) {
        if (!(error instanceof LedgerConflict) || attempt === TRIES) throw error
      }
    }
  }

  async function tryAll(): Promise<void> {
    const tries = [...kept.keys()].map((key) =>
      recover(key).catch((error: unknown) => {
        if (!(error instanceof LedgerConflict) && !(error instanceof LedgerError)) throw error
      }),
    )
    await Promise.all(tries)
  }

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
      for (let attempt = 1; attempt <= TRIES; attempt += 1) {
        // Read again: in a restored ledger, another record might have this version.
        record = await ledger.get(key).catch(() => record)
        try {
          const written = await write(record, outcome)
          kept.delete(key)
          return written
        } catch (error) {
          if (error instanceof LedgerError) await sleep(clock, backoffMs(attempt, WAIT), never)
          else if (!(error instanceof LedgerConflict)) throw error
        }
      }
      return undefined
    },
    remember: (key, outcome) => void kept.set(key, outcome),
    recover,
    async saveIds() {
      for (const [key, { end }] of kept) if (end.type === 'created' && !underWay.has(key)) await recover(key)
    },
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
        await sleep(clock, LAST_WAIT_MS, until).catch(() => undefined) // a stop still allows one try
        await Promise.race([tryAll(), ended(until)])
      }
      return new Map([...kept].map(([key, { end }]) => [key, end]))
    },
  }
}

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

export function outcomeLostEvent(key: Key, end: CreateEnd): Event & { readonly type: 'OutcomeLost' } {
  const common = { type: 'OutcomeLost', key } as const
  const then = 'Once the ledger can be written, first run:'
  switch (end.type) {
    case 'created': {
      const { id } = end.remote
      const command = `pipewright resolve ${key} --adopt ${id}`
      const message = `${capital(nounOf(key))} ${id} was created for ${key}, but the ledger does not have its id. ${then} "${command}"`
      return { ...common, outcome: 'created', pipeId: id, command, message }
    }
    case 'failed': {
      const command = `pipewright resolve ${key} --retry --force`
      const message = `No resource was created for ${key} (${end.seen.what}), but the ledger does not record that. ${then} "${command}"`
      return { ...common, outcome: 'failed', pipeId: undefined, command, message }
    }
    case 'unknown': {
      const command = `pipewright status ${key}`
      const message = `It is unknown whether ${anyOf(nounOf(key))} was created for ${key} (${end.seen.what}); the ledger records only the attempt. ${then} "${command}"`
      return { ...common, outcome: 'unknown', pipeId: end.seen.pipeId, command, message }
    }
  }
}
