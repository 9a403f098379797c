import type { Key } from '../kinds/key.ts'
import { isAtLeast } from '../plan/severity.ts'
import type { ResourceStatus } from '../reconcile/status.ts'
import { isAbout, type Filter } from './filter.ts'
import { createdNews, forgottenNews, stateNews, worstFirst, type Creation } from './notification.ts'
import type { News } from './notification.ts'
import { standingOf, type Standing } from './alert-state.ts'
import type { Told, ToldTarget } from './sent-state.ts'

export interface OwedOptions {
  readonly filter: Filter
  /** How long news is gathered before it is told, in ms. */
  readonly groupWaitMs: number
  /** The same trouble of a resource is told at most once in so long, in ms. */
  readonly flapWindowMs: number
  /** What was told before. */
  readonly before: ToldTarget
  /** What is known of a resource now. */
  readonly resource: (key: Key) => ResourceStatus | undefined
  /** ms since the epoch. */
  readonly today: () => number
  /** Something that was waiting to be told is no longer so: it turned back. */
  readonly onFolded: () => void
}

/**
 * What one target is owed: the difference between how things stand and what it was told. Nothing is queued: a resource
 * that changes a hundred times while a receiver is away is one difference, or none. Times are of the monotonic clock.
 */
export interface Owed {
  /** Compares a resource with what was told of it. */
  observe(key: Key, now: number): void
  created(creation: Creation, now: number): void
  /** Lets go of what was told of resources that are no longer there; to be called when all that are there are known. */
  sweep(now: number): void
  /** When something may be told; `undefined` when nothing waits. */
  readyAt(): number | undefined
  /** What may be told now, worst first; whole until it is settled or released. `all`: also what would be gathered on. */
  take(now: number, how: 'due' | 'all'): readonly News[]
  /** It was told, or given up. */
  settle(news: readonly News[], now: number): void
  /** It was not told, and is looked at anew. */
  release(news: readonly News[], now: number): void
  /** Resources and creations that wait, or are under way. */
  readonly count: number
  readonly told: ToldTarget
}

interface Waiting {
  readonly news: News
  readonly state: Told | undefined
  /** Since when the target is owed something about this resource. */
  readonly since: number
}

/** So many troubles of one resource are told within the flap window; others wait for its end. */
const MOST_TROUBLES = 4

/** A trouble that was told. */
interface Telling {
  readonly state: string
  readonly at: number
}

/** How often a resource changed since it was last told of. */
interface Flips {
  readonly state: string
  readonly count: number
}

export function createOwed(options: OwedOptions): Owed {
  const { filter, groupWaitMs, flapWindowMs, resource, today, onFolded } = options
  const told = new Map(options.before.told)
  const waiting = new Map<Key, Waiting>()
  const creations = new Map<Key, { readonly creation: Creation; readonly since: number }>()
  const underWay = new Set<Key>()
  const flips = new Map<Key, Flips>()
  const tellings = new Map<Key, readonly Telling[]>()
  let createdUntil = options.before.createdUntil

  function observe(key: Key, now: number): void {
    if (underWay.has(key)) return // it is looked at when that is settled
    const status = resource(key)
    if (status === undefined) {
      const before = told.get(key)
      if (before === undefined) drop(key)
      else if (waiting.get(key)?.news.change !== 'forgotten')
        owe(key, forgottenNews(key, before), undefined, now)
      return
    }
    if (!isAbout(filter, status)) {
      told.delete(key)
      drop(key)
      return
    }
    const standing = standingOf(status, today())
    if (standing.wellness === 'between') return
    const trouble =
      standing.wellness === 'bad' && isAtLeast(standing.severity, filter.severity) ? standing : undefined
    const before = told.get(key)
    const changes = countChange(key, trouble?.state ?? 'good', before?.state ?? 'good')
    if (trouble?.state === before?.state) {
      if (waiting.delete(key)) onFolded()
      return
    }
    const news = stateNews(status, standing, { before, isTrouble: trouble !== undefined, changes })
    owe(key, news, trouble === undefined ? undefined : toldOf(trouble), now)
  }

  function owe(key: Key, news: News, state: Told | undefined, now: number): void {
    waiting.set(key, { news, state, since: waiting.get(key)?.since ?? now })
  }

  function countChange(key: Key, state: string, toldState: string): number {
    const last = flips.get(key) ?? { state: toldState, count: 0 }
    const next = last.state === state ? last : { state, count: last.count + 1 }
    if (next.count > 0) flips.set(key, next)
    return Math.max(1, next.count)
  }

  function drop(key: Key): void {
    waiting.delete(key)
    flips.delete(key)
  }

  /** A trouble that was told not long ago, and came again, is held; the end of one never is. */
  function heldUntil(key: Key, { state }: Waiting): number {
    const recent = tellings.get(key) ?? []
    if (state === undefined) return -Infinity
    const same = recent.findLast((telling) => telling.state === state.state)
    const first = recent.length < MOST_TROUBLES ? undefined : recent[0]
    return Math.max(...[same, first].map((telling) => (telling?.at ?? -Infinity) + flapWindowMs))
  }

  function noteTelling(key: Key, { state }: Told, now: number): void {
    const recent = (tellings.get(key) ?? []).filter(({ at }) => at + flapWindowMs > now)
    tellings.set(key, [...recent, { state, at: now }].slice(-MOST_TROUBLES))
    if (tellings.size <= 2 * waiting.size + TELLINGS_KEPT) return
    for (const [other, times] of tellings) {
      if (times.every(({ at }) => at + flapWindowMs <= now)) tellings.delete(other)
    }
  }

  /** A creation as news; none when the target is not told of this pipe. */
  function creationNews(creation: Creation): readonly News[] {
    const status = resource(creation.key)
    if (status !== undefined && isAbout(filter, status)) return [createdNews(creation, status)]
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
      for (const key of new Set([...told.keys(), ...waiting.keys()])) {
        if (resource(key) === undefined) observe(key, now)
      }
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
      const news = [
        ...states.map(([, one]) => one.news),
        ...made.flatMap(({ creation }) => creationNews(creation)),
      ]
      for (const { key } of news) underWay.add(key)
      return news.toSorted(worstFirst)
    },
    settle(news, now) {
      for (const item of news) {
        underWay.delete(item.key)
        if (item.change === 'created') {
          if (creations.get(item.key)?.creation.pipeId === item.pipeId) creations.delete(item.key)
          createdUntil = Math.max(createdUntil, item.since)
          continue
        }
        const state = waiting.get(item.key)?.state
        if (state === undefined) told.delete(item.key)
        else {
          told.set(item.key, state)
          noteTelling(item.key, state, now)
        }
        drop(item.key)
      }
      for (const { key } of news) observe(key, now)
    },
    release(news, now) {
      for (const { key } of news) underWay.delete(key)
      for (const { key } of news) observe(key, now)
    },
    get count() {
      return waiting.size + creations.size
    },
    get told() {
      return { told, createdUntil }
    },
  }
}

/** So many keys may have tellings that are over before they are let go. */
const TELLINGS_KEPT = 1_000

function earlier(one: number | undefined, other: number): number {
  return one === undefined ? other : Math.min(one, other)
}

function toldOf({ state, status, condition, reason, severity }: Standing): Told {
  return { state, status, condition, reason, severity }
}
