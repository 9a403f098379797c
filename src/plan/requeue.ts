import { isResynced } from '../kinds/definition.ts'
import { isAlarm } from '../kinds/lookup.ts'
import { parseDuration } from '../lib/duration.ts'
import { backoffMs } from '../lib/retry.ts'
import type { Action } from './action.ts'
import type { Conditions } from './condition.ts'
import type { DecideInput } from './input.ts'
import type { Backoff, LedgerRecord } from './record.ts'
import type { Failed } from './outcome.ts'
import type { Reason } from './reason.ts'
import { againAfterMs, SHOWS_MS } from './run-state.ts'

export interface Requeue {
  readonly why: 'retry' | 'drift'
  readonly afterMs: number
}

const LOCAL_LOOK_MS = 10_000
const MISSING_LOOK_MS = 31_000
const LOOKS_MS: Partial<Record<Reason, number>> = { MassMissing: MISSING_LOOK_MS, DeleteLimit: 60_000 }
/** First wait while no read has found the pipe. Grows up to the interval. */
const UNSEEN_LOOK_MS = 10_000
/** First wait before another read of an unhealthy pipe. Doubles up to the interval. */
const STATE_LOOK_MS = 2_000
/** Least wait before the next apply of a resource that cannot be read. */
const UPSERT_LOOK_MS = 1_000
/** A drift check comes early by at most this share. */
const JITTER = 0.2

interface RequeueInput {
  readonly action: Action
  readonly conditions: Conditions
  readonly backoff: Backoff | undefined
  readonly decided: DecideInput
  readonly upsert: LedgerRecord['upsert']
  readonly unsettledObservations: number
  /** ms since the pipe was recorded. Undefined once a read has found it. */
  readonly unseenForMs: number | undefined
  readonly random: () => number
}

export function requeueAfter(input: RequeueInput): Requeue {
  const { action, backoff, decided, conditions } = input
  const intervalMs = intervalOf(decided, input.upsert)
  if (backoff !== undefined && isWaiting(backoff, decided.steadyNow)) {
    return { why: 'retry', afterMs: backoff.until - decided.steadyNow }
  }
  if (action.type === 'delete') return { why: 'retry', afterMs: STATE_LOOK_MS }
  if (action.type === 'hold' && action.reason !== 'NeverSeen')
    return holdLook(action, decided, Math.min(intervalMs, commandDueMs(decided, intervalMs)), input.random)
  if (action.type === 'refuse' && action.reason !== 'OutcomeUnknown') {
    // Most refusals read the platform, so they count as drift checks.
    const afterMs = LOOKS_MS[action.reason] ?? LOCAL_LOOK_MS
    return { why: 'drift', afterMs: spread(Math.min(afterMs, intervalMs), input.random) }
  }
  if (conditions.Synced.reason === 'Changing') {
    const sinceMs = Math.min(Math.abs(decided.now - conditions.Synced.since), sinceSentMs(input))
    const afterMs = Math.max(STATE_LOOK_MS, Math.min(sinceMs, commandDueMs(decided, sinceMs)))
    return { why: 'retry', afterMs: Math.min(afterMs, intervalMs) }
  }
  const soonMs = Math.min(stopLookMs(input), stateLookMs(input))
  if (soonMs < intervalMs) return { why: 'retry', afterMs: soonMs }
  const { unseenForMs } = input
  if (unseenForMs !== undefined) {
    const afterMs = Math.min(Math.max(UNSEEN_LOOK_MS, unseenForMs), intervalMs)
    return { why: 'retry', afterMs: spread(afterMs, input.random) }
  }
  if (isResynced(decided.kind)) {
    // Not early, because the resource is applied only after the whole interval.
    const sinceMs = Math.max(0, decided.now - (input.upsert?.at ?? decided.now))
    const lateMs = intervalMs - spread(intervalMs, input.random)
    return { why: 'drift', afterMs: Math.max(UPSERT_LOOK_MS, intervalMs + lateMs - sinceMs) }
  }
  return { why: 'drift', afterMs: spread(intervalMs, input.random) }
}

function sinceSentMs({ action, decided }: RequeueInput): number {
  if (action.type === 'update') return 0
  if (decided.lifecycle !== 'create-once') return Infinity
  const { command, change } = decided.recorded
  return Math.min(
    ...[command, change].map((sent) => (sent === undefined ? Infinity : decided.steadyNow - sent.at)),
  )
}

function stopLookMs({ action: { reason }, decided }: RequeueInput): number {
  const { command } = decided.recorded
  if (command?.isForChange !== true || reason === 'Stalled') return Infinity
  return commandDueMs(decided, Math.max(STATE_LOOK_MS, (decided.steadyNow - command.at) / 4))
}

/** Wait before the next read of an unhealthy or changing pipe. Alerts keep their interval. */
function stateLookMs({ decided, conditions: { Ready }, unsettledObservations }: RequeueInput): number {
  const isOnItsWay = Ready.reason === 'UnhealthyState' || Ready.reason === 'Changing'
  const isWatched = decided.lifecycle === 'create-once' && !isAlarm(decided.desired.key)
  return isWatched && isOnItsWay ? backoffMs(unsettledObservations + 1, { firstMs: STATE_LOOK_MS }) : Infinity
}

function commandDueMs({ recorded: { command }, steadyNow }: DecideInput, elseMs: number): number {
  if (command === undefined) return elseMs
  const elapsed = steadyNow - command.at
  const dueMs = [SHOWS_MS, againAfterMs(command)].find((ms) => ms > elapsed)
  return dueMs === undefined ? elseMs : Math.max(STATE_LOOK_MS, dueMs - elapsed)
}

function holdLook(
  action: Action & { readonly type: 'hold' },
  decided: DecideInput,
  intervalMs: number,
  random: () => number,
): Requeue {
  if (action.until !== undefined && action.until - decided.now <= intervalMs)
    return { why: 'retry', afterMs: Math.max(0, action.until - decided.now) }
  if (action.reason === 'MissingUnconfirmed') {
    return { why: 'retry', afterMs: spread(MISSING_LOOK_MS, random) + MISSING_LOOK_MS * JITTER }
  }
  return { why: 'drift', afterMs: spread(intervalMs, random) }
}

const LATE_MS = 15 * 60_000

/** Shorter once for a resource that cannot be read, if an earlier request might still arrive. */
export function intervalOf(
  { kind, policy, timing }: Pick<DecideInput, 'kind' | 'policy' | 'timing'>,
  upsert?: LedgerRecord['upsert'],
): number {
  const usual = parseDuration(policy.interval ?? '')
  if (!isResynced(kind)) return usual ?? timing.intervalMs
  const resyncMs = usual ?? timing.resyncMs
  return upsert?.mightBeLate === true ? Math.min(resyncMs, LATE_MS) : resyncMs
}

function spread(intervalMs: number, random: () => number): number {
  return Math.round(intervalMs * (1 - JITTER * random()))
}

const LONGEST_MS = 15 * 60_000

const SLOW = { firstMs: 5_000, maxMs: LONGEST_MS }
const QUICK = { firstMs: 1_000, maxMs: 5 * 60_000 }
const SHORTEST_MS = 250

/** False if the clock was set back after the wait was written. */
export function isWaiting({ until }: Backoff, now: number): boolean {
  return until > now && until - now <= LONGEST_MS
}

/** Exponential with full jitter, or as `Retry-After` says. @param digest another digest restarts the count */
export function backoffAfter(input: {
  readonly previous: Backoff | undefined
  readonly outcome: Failed
  readonly digest: string
  readonly now: number
  readonly random: () => number
}): Backoff {
  const { previous, outcome, digest, now, random } = input
  const failures = previous?.digest === digest ? previous.failures + 1 : 1
  const growth = outcome.reason === 'Rejected' ? SLOW : QUICK
  const wait = outcome.retryAfterMs ?? Math.max(SHORTEST_MS, backoffMs(failures, growth, random))
  return { failures, until: now + Math.ceil(wait), digest }
}
