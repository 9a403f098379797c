import type { Key } from '../kinds/key.ts'
import { isAtLeast } from '../plan/severity.ts'
import type { ResourceStatus } from '../contract/status.ts'
import { isAbout, type Filter } from './filter.ts'
import {
  createdNotification,
  forgottenNotification,
  stateNotification,
  worstFirst,
  type Creation,
  type Notification,
} from './notification.ts'
import { isHidden } from '../contract/cause.ts'
import { alertStateOf, type AlertState } from './alert-state.ts'
import type { SentAlert, SentState } from './sent-state.ts'

export interface PendingOptions {
  readonly filter: Filter
  /** How long notifications are gathered before they are sent, in ms. */
  readonly groupWaitMs: number
  /** The same problem of a resource is sent at most once in so long, in ms. */
  readonly flapWindowMs: number
  /** What was sent before. */
  readonly before: SentState
  /** What is known of a resource now. */
  readonly resource: (key: Key) => ResourceStatus | undefined
  /** ms since the epoch. */
  readonly today: () => number
  /** Something that was pending is no longer so: it turned back. */
  readonly onFolded: () => void
}

/**
 * What is pending for one target: the difference between how things are and what was sent to it. Nothing is queued: a resource
 * that changes a hundred times while a receiver is away is one difference, or none. Times are of the monotonic clock.
 */
export interface Pending {
  /** Compares a resource with what was sent about it. */
  observe(key: Key, now: number): void
  created(creation: Creation, now: number): void
  /** Lets go of what was sent about resources that are no longer there; to be called when all that are there are known. */
  sweep(now: number): void
  /** When something may be sent; `undefined` when nothing is pending. */
  readyAt(): number | undefined
  /** What may be sent now, worst first; whole until it is settled or released. `all`: also what would be gathered on. */
  take(now: number, how: 'due' | 'all'): readonly Notification[]
  /** It was sent, or given up. */
  settle(notifications: readonly Notification[], now: number): void
  /** It was not sent, and is compared anew. */
  release(notifications: readonly Notification[], now: number): void
  /** Resources and creations that wait, or are under way. */
  readonly count: number
  readonly sent: SentState
}

interface Waiting {
  readonly notification: Notification
  readonly state: SentAlert | undefined
  /** Since when something about this resource is pending. */
  readonly since: number
}

/** So many problems of one resource are sent within the flap window; others wait for its end. */
const MOST_PROBLEMS = 4

/** A problem that was sent. */
interface SentOnce {
  readonly state: string
  readonly at: number
}

/** How often a resource changed since the last notification. */
interface Flips {
  readonly state: string
  readonly count: number
}

export function createPending(options: PendingOptions): Pending {
  const { filter, groupWaitMs, flapWindowMs, resource, today, onFolded } = options
  const sent = new Map(options.before.alerts)
  const waiting = new Map<Key, Waiting>()
  const creations = new Map<Key, { readonly creation: Creation; readonly since: number }>()
  const underWay = new Set<Key>()
  const flips = new Map<Key, Flips>()
  const sendings = new Map<Key, readonly SentOnce[]>()
  let createdUntil = options.before.createdUntil

  function observe(key: Key, now: number): void {
    if (underWay.has(key)) return // it is compared when that is settled
    const status = resource(key)
    if (status === undefined) {
      const before = sent.get(key)
      if (before === undefined) drop(key)
      else if (waiting.get(key)?.notification.change !== 'forgotten')
        add(key, forgottenNotification(key, before), undefined, now)
      return
    }
    if (!isAbout(filter, status)) {
      sent.delete(key)
      drop(key)
      return
    }
    const alert = alertStateOf(status, today())
    if (alert.wellness === 'between') return
    const problem = alert.wellness === 'bad' && isAtLeast(alert.severity, filter.severity) ? alert : undefined
    const before = sent.get(key)
    if (problem === undefined && alert.wellness === 'bad' && before !== undefined && isHidden(status, before))
      return
    const changes = countChange(key, problem?.state ?? 'good', before?.state ?? 'good')
    if (problem?.state === before?.state) {
      if (waiting.delete(key)) onFolded()
      return
    }
    const notification = stateNotification(status, alert, { before, isBad: problem !== undefined, changes })
    add(key, notification, problem === undefined ? undefined : sentAlertOf(problem), now)
  }

  function add(key: Key, notification: Notification, state: SentAlert | undefined, now: number): void {
    waiting.set(key, { notification, state, since: waiting.get(key)?.since ?? now })
  }

  function countChange(key: Key, state: string, sentState: string): number {
    const last = flips.get(key) ?? { state: sentState, count: 0 }
    const next = last.state === state ? last : { state, count: last.count + 1 }
    if (next.count > 0) flips.set(key, next)
    return Math.max(1, next.count)
  }

  function drop(key: Key): void {
    waiting.delete(key)
    flips.delete(key)
  }

  /** A problem that was sent not long ago, and came again, is held; the end of one never is. */
  function heldUntil(key: Key, { state }: Waiting): number {
    const recent = sendings.get(key) ?? []
    if (state === undefined) return -Infinity
    const same = recent.findLast((sending) => sending.state === state.state)
    const first = recent.length < MOST_PROBLEMS ? undefined : recent[0]
    return Math.max(...[same, first].map((sending) => (sending?.at ?? -Infinity) + flapWindowMs))
  }

  function noteSending(key: Key, { state }: SentAlert, now: number): void {
    const recent = (sendings.get(key) ?? []).filter(({ at }) => at + flapWindowMs > now)
    sendings.set(key, [...recent, { state, at: now }].slice(-MOST_PROBLEMS))
    if (sendings.size <= 2 * waiting.size + SENDINGS_KEPT) return
    for (const [other, times] of sendings) {
      if (times.every(({ at }) => at + flapWindowMs <= now)) sendings.delete(other)
    }
  }

  /** A creation as a notification; none when the target is not notified about this pipe. */
  function creationNotification(creation: Creation): readonly Notification[] {
    const status = resource(creation.key)
    if (status === undefined) return [] // nothing was read yet, or it is gone: `sweep` knows
    if (isAbout(filter, status)) return [createdNotification(creation, status)]
    creations.delete(creation.key)
    return []
  }

  return {
    observe,
    created(creation, now) {
      if (filter.severity !== 'info') return
      if (creations.has(creation.key)) onFolded()
      creations.set(creation.key, { creation, since: creations.get(creation.key)?.since ?? now })
    },
    sweep(now) {
      for (const key of new Set([...sent.keys(), ...waiting.keys()])) {
        if (resource(key) === undefined) observe(key, now)
      }
      for (const key of creations.keys()) if (resource(key) === undefined) creations.delete(key)
    },
    readyAt() {
      let first: number | undefined
      for (const [key, one] of waiting) {
        first = earlier(first, Math.max(one.since + groupWaitMs, heldUntil(key, one)))
      }
      for (const { since } of creations.values()) first = earlier(first, since + groupWaitMs)
      return first
    },
    take(now, how) {
      const states = [...waiting].filter(([key, one]) => heldUntil(key, one) <= now)
      const made = [...creations.values()]
      const isDue = [...states.map(([, one]) => one), ...made].some(({ since }) => since + groupWaitMs <= now)
      if (how === 'due' && !isDue) return []
      const notifications = [
        ...states.map(([, one]) => one.notification),
        ...made.flatMap(({ creation }) => creationNotification(creation)),
      ]
      for (const { key } of notifications) underWay.add(key)
      return notifications.toSorted(worstFirst)
    },
    settle(notifications, now) {
      for (const item of notifications) {
        underWay.delete(item.key)
        if (item.change === 'created') {
          if (creations.get(item.key)?.creation.pipeId === item.pipeId) creations.delete(item.key)
          createdUntil = Math.max(createdUntil, item.since)
          continue
        }
        const state = waiting.get(item.key)?.state
        if (state === undefined) sent.delete(item.key)
        else {
          sent.set(item.key, state)
          noteSending(item.key, state, now)
        }
        drop(item.key)
      }
      for (const { key } of notifications) observe(key, now)
    },
    release(notifications, now) {
      for (const { key } of notifications) underWay.delete(key)
      for (const { key } of notifications) observe(key, now)
    },
    get count() {
      return waiting.size + creations.size
    },
    get sent() {
      return { alerts: sent, createdUntil }
    },
  }
}

/** So many keys may have sendings that are over before they are dropped. */
const SENDINGS_KEPT = 1_000

function earlier(one: number | undefined, other: number): number {
  return one === undefined ? other : Math.min(one, other)
}

function sentAlertOf({ state, status, condition, reason, severity }: AlertState): SentAlert {
  return { state, status, condition, reason, severity }
}
