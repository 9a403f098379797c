import { isResynced } from '../kinds/definition.ts'
import { isAlarm } from '../kinds/lookup.ts'
import { parseDuration } from '../lib/duration.ts'
import type { Action } from './action.ts'
import type { Conditions } from './condition.ts'
import type { DecideInput } from './input.ts'
import type { Backoff } from './record.ts'
import type { Failed } from './outcome.ts'
import type { Reason } from './reason.ts'
import { againAfterMs, SHOWS_MS } from './rest.ts'

/** When a key is looked at again, and how urgent that is. */
export interface Requeue {
  readonly why: 'retry' | 'drift'
  readonly afterMs: number
}

/** What is missing here may come any moment, and looking for it costs no request. */
const LOCAL_LOOK_MS = 10_000
/** Three readings at this distance confirm that a pipe is missing. */
const MISSING_LOOK_MS = 31_000
/** What is refused for this is looked at again after that: ms. */
const LOOKS_MS: Partial<Record<Reason, number>> = { MassMissing: MISSING_LOOK_MS, DeleteLimit: 60_000 }
/** A pipe that no reading found yet is looked for after this, then ever later, up to the interval. */
const UNSEEN_LOOK_MS = 10_000
/** A state that is not healthy is looked at again after this, then twice that, up to the interval. */
const STATE_LOOK_MS = 2_000
/** A drift check comes at this share of its interval at the earliest, at the whole at the latest. */
const JITTER = 0.2

/**
 * When to look again. Pure: chance is an argument, and spreads drift checks over their interval.
 * @param unsettledObservations how many readings in a row found a state that is not healthy
 * @param unseenForMs since the pipe was recorded, while no reading has found it
 */
export function requeueAfter(input: {
  readonly action: Action
  readonly conditions: Conditions
  readonly backoff: Backoff | undefined
  readonly decided: DecideInput
  readonly unsettledObservations: number
  readonly unseenForMs: number | undefined
  readonly random: () => number
}): Requeue {
  const { action, backoff, decided, conditions } = input
  const intervalMs = intervalOf(decided)
  if (backoff !== undefined && isWaiting(backoff, decided.now)) {
    return { why: 'retry', afterMs: backoff.until - decided.now }
  }
  if (action.type === 'delete') return { why: 'retry', afterMs: STATE_LOOK_MS }
  if (action.type === 'hold' && action.reason !== 'NeverSeen')
    return holdLook(action, decided, intervalMs, input.random)
  if (action.type === 'refuse' && action.reason !== 'OutcomeUnknown') {
    const afterMs = LOOKS_MS[action.reason] ?? LOCAL_LOOK_MS
    return { why: 'retry', afterMs: spread(Math.min(afterMs, intervalMs), input.random) }
  }
  // What is being changed is watched closely at first, and then ever less.
  if (conditions.Synced.reason === 'Changing') {
    const sinceMs = Math.min(decided.now - conditions.Synced.since, sinceSentMs(input))
    const afterMs = Math.max(STATE_LOOK_MS, Math.min(sinceMs, commandDueMs(decided) ?? sinceMs))
    return { why: 'retry', afterMs: Math.min(afterMs, intervalMs) }
  }
  const soonMs = Math.min(stopLookMs(input), stateLookMs(input))
  if (soonMs < intervalMs) return { why: 'retry', afterMs: soonMs }
  // Soon, so that a pipe that is deleted later is known to have been there.
  const { unseenForMs } = input
  if (unseenForMs !== undefined) {
    const afterMs = Math.min(Math.max(UNSEEN_LOOK_MS, unseenForMs), intervalMs)
    return { why: 'retry', afterMs: spread(afterMs, input.random) }
  }
  return { why: 'drift', afterMs: spread(intervalMs, input.random) }
}

/** A request begins a new watch: something may be at rest for it. ms. */
function sinceSentMs({
  action,
  decided,
}: {
  readonly action: Action
  readonly decided: DecideInput
}): number {
  if (action.type === 'update') return 0
  if (decided.lifecycle !== 'create-once') return Infinity
  const { command, change } = decided.recorded
  return Math.min(
    ...[command, change].map((sent) => (sent === undefined ? Infinity : decided.steadyNow - sent.at)),
  )
}

/** A stop of ours may still arrive: what it stops is to be started again. Infinity: none is waited for. */
function stopLookMs({ action, decided }: { readonly action: Action; readonly decided: DecideInput }): number {
  const { command } = decided.recorded
  // One that was not heeded for long is not waited for.
  return command?.isForChange === true && action.reason !== 'Stalled'
    ? Math.max(STATE_LOOK_MS, commandDueMs(decided) ?? 0)
    : Infinity
}

/** A pipe on its way to a healthy state is watched closely; an alert that fires is looked at as ever. Infinity: it is not on its way. */
function stateLookMs({
  decided,
  conditions: { Ready },
  unsettledObservations,
}: {
  readonly decided: DecideInput
  readonly conditions: Conditions
  readonly unsettledObservations: number
}): number {
  const isOnItsWay = Ready.reason === 'UnhealthyState' || Ready.reason === 'StateChanging'
  const isWatched = decided.lifecycle === 'create-once' && !isAlarm(decided.desired.key)
  return isWatched && isOnItsWay && unsettledObservations < 30
    ? STATE_LOOK_MS * 2 ** unsettledObservations
    : Infinity
}

/** In so many ms a stop or start of ours that shows nothing has had its time, or is sent again; undefined: none is waited for. */
function commandDueMs({ recorded: { command }, steadyNow }: DecideInput): number | undefined {
  if (command === undefined) return undefined
  const elapsed = steadyNow - command.at
  return [SHOWS_MS - elapsed, againAfterMs(command) - elapsed].find((leftMs) => leftMs > 0)
}

function holdLook(
  action: Action & { readonly type: 'hold' },
  decided: DecideInput,
  intervalMs: number,
  random: () => number,
): Requeue {
  if (action.until !== undefined) {
    const afterMs = Math.max(0, action.until - decided.now)
    // What is not found may come back before.
    const isLookedFor = action.reason === 'ReplacedRecently'
    return isLookedFor && afterMs > intervalMs
      ? { why: 'drift', afterMs: spread(intervalMs, random) }
      : { why: 'retry', afterMs }
  }
  if (action.reason === 'MissingUnconfirmed') {
    return { why: 'retry', afterMs: spread(MISSING_LOOK_MS, random) + MISSING_LOOK_MS * JITTER }
  }
  return { why: 'drift', afterMs: spread(intervalMs, random) }
}

/** The interval at which a key is looked at: its own, or the one of its kind. */
function intervalOf(decided: DecideInput): number {
  const { policy, timing } = decided
  const own = policy.interval === undefined ? undefined : parseDuration(policy.interval)
  return own ?? (isResynced(decided.kind) ? timing.resyncMs : timing.intervalMs)
}

function spread(intervalMs: number, random: () => number): number {
  return Math.round(intervalMs * (1 - JITTER * random()))
}

/** No wait is longer, whatever the platform asked for (`lib/retry-after.ts` caps it likewise). */
const LONGEST_MS = 15 * 60_000

/** First ceiling and cap of the wait, in milliseconds, by what failed. */
const SLOW = { firstMs: 5_000, capMs: LONGEST_MS }
const QUICK = { firstMs: 1_000, capMs: 5 * 60_000 }

const SHORTEST_MS = 250

/** Whether a key still waits. A wait that seems longer than any was written before the clock was set back: it is over. */
export function isWaiting({ until }: Backoff, now: number): boolean {
  return until > now && until - now <= LONGEST_MS
}

/**
 * How long a key waits after a failure: exponential, capped, with full jitter; what the platform asked for comes first.
 * @param digest what the attempt depended on; another digest starts afresh
 * @param random from 0 to below 1
 */
export function backoffAfter(input: {
  readonly previous: Backoff | undefined
  readonly outcome: Failed
  readonly digest: string
  readonly now: number
  readonly random: () => number
}): Backoff {
  const { previous, outcome, digest, now, random } = input
  const failures = previous?.digest === digest ? previous.failures + 1 : 1
  const { firstMs, capMs } = outcome.reason === 'Rejected' ? SLOW : QUICK
  const ceiling = Math.min(capMs, firstMs * 2 ** Math.min(failures - 1, 30))
  const wait = outcome.retryAfterMs ?? Math.max(SHORTEST_MS, random() * ceiling)
  return { failures, until: now + Math.ceil(wait), digest }
}
