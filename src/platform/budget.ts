import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import { notSent, type RemoteError } from '../contract/remote-error.ts'
import type { Priority } from '../contract/platform.ts'
import { createPace, createRequestWindow, MARGIN, type BudgetPlace } from './request-window.ts'

/** `next`: after a related request was sent. */
export type Rank = Priority | 'next'

/** In the order of service. */
const RANKS: readonly Rank[] = ['next', 0, 1, 2]
const URGENT_RANKS: readonly Rank[] = ['next', 0]

/** A longer queue is a bug. */
const LONGEST_LINE = 10_000

/** Only for priority 0. A small budget has no reserve. */
const RESERVE = 0.005

interface Wanted {
  readonly priority: Rank
  /** Taken together. A smaller budget gives what it has. */
  readonly places: 1 | 2 | 3
}

export interface BudgetPlaces {
  readonly place: BudgetPlace
  readonly spares: readonly BudgetPlace[]
}

export interface BudgetSnapshot {
  readonly used: number
  readonly waiting: number
  readonly pausedForMs: number
}

export interface Budget {
  /** ms from an answer until its permit is free again. */
  readonly turnMs: number
  /** Undefined if no permit is free, or if other requests wait. */
  take(wanted: Wanted): BudgetPlaces | undefined
  /**
   * `next` comes first, then lower priorities. Services take turns, first come first served within a
   * service.
   * @throws the signal's reason after an abort
   * @throws {RemoteError} `Throttled` if the queue is full
   */
  acquire(wanted: Wanted & { readonly service: string; readonly signal: AbortSignal }): Promise<BudgetPlaces>
  /** Never shortens a pause. */
  pause(ms: number): void
  snapshot(): BudgetSnapshot
}

interface Waiter extends Wanted {
  readonly service: string
  readonly since: number
  grant(places: BudgetPlaces): void
}

/** At most `requests` per window, as the server counts. */
export function createBudget(options: {
  readonly requests: number
  readonly windowMs: number
  readonly clock: Clock
  readonly emit: Emit
}): Budget {
  const { requests, windowMs, clock, emit } = options
  const window = createRequestWindow({ windowMs, clock, onFree: serve })
  const line = createWaitingLine()
  const pace = createPace({ requests, periodMs: windowMs * (1 + 2 * MARGIN) })
  const forAll = requests - Math.floor(requests * RESERVE)
  let pausedUntil = -Infinity
  let alarm: { readonly at: number; readonly cancel: () => void } | undefined

  function placesAt(now: number, count: number): BudgetPlaces {
    return { place: window.take(now), spares: Array.from({ length: count - 1 }, () => window.take(now)) }
  }

  function countOf({ places }: Wanted): number {
    return Math.min(places, forAll)
  }

  function servableAt(wanted: Wanted, now: number): number {
    const isUrgent = URGENT_RANKS.includes(wanted.priority)
    const isFree = window.used(now) + countOf(wanted) <= (isUrgent ? requests : forAll)
    const freeAt = isFree ? now : (window.nextFreeAt(now) ?? now)
    return Math.max(pausedUntil, freeAt, isUrgent ? now : pace.readyAt())
  }

  function serve(): void {
    const now = clock.monotonic()
    for (let waiter = line.first(); waiter !== undefined; waiter = line.first()) {
      if (servableAt(waiter, now) > now) break
      line.serve(waiter)
      const count = countOf(waiter)
      if (!URGENT_RANKS.includes(waiter.priority)) for (let n = 0; n < count; n += 1) pace.takeAfterWait(now)
      waiter.grant(placesAt(now, count))
      emit({ type: 'BudgetWaited', service: waiter.service, waitMs: now - waiter.since })
    }
    setAlarm(now)
  }

  function setAlarm(now: number): void {
    const first = line.first()
    // A timer that fires early must not be set again without time passing.
    const at = first === undefined ? undefined : Math.max(servableAt(first, now), now + 1)
    if (at === alarm?.at) return
    alarm?.cancel()
    alarm = at === undefined ? undefined : { at, cancel: clock.after(Math.ceil(at - now), onAlarm) }
  }

  function onAlarm(): void {
    alarm = undefined
    serve()
  }

  function takeFree(wanted: Wanted): BudgetPlaces | undefined {
    const now = clock.monotonic()
    const isUrgent = URGENT_RANKS.includes(wanted.priority)
    if (line.size(isUrgent ? URGENT_RANKS : RANKS) > 0 || servableAt(wanted, now) > now) return undefined
    const count = countOf(wanted)
    if (!isUrgent) for (let n = 0; n < count; n += 1) pace.takeAtOnce(now)
    return placesAt(now, count)
  }

  return {
    turnMs: windowMs * (1 + 2 * MARGIN),
    take: takeFree,
    async acquire({ service, priority, places, signal }) {
      signal.throwIfAborted()
      const free = takeFree({ priority, places })
      if (free !== undefined) return free
      const now = clock.monotonic()
      if (line.size(RANKS) >= LONGEST_LINE) throw tooManyWaiting()
      return new Promise<BudgetPlaces>((resolve, reject) => {
        const waiter: Waiter = {
          service,
          priority,
          places,
          since: now,
          grant(granted) {
            signal.removeEventListener('abort', onAbort)
            resolve(granted)
          },
        }
        function onAbort(): void {
          line.remove(waiter)
          setAlarm(clock.monotonic())
          reject(signal.reason)
        }
        signal.addEventListener('abort', onAbort, { once: true })
        line.add(waiter)
        serve()
      })
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + ms)
      setAlarm(clock.monotonic())
    },
    snapshot() {
      const now = clock.monotonic()
      return {
        used: window.used(now),
        waiting: line.size(RANKS),
        pausedForMs: Math.max(0, pausedUntil - now),
      }
    },
  }
}

function tooManyWaiting(): RemoteError {
  return notSent(
    'Throttled',
    `${LONGEST_LINE} requests already wait for the request budget. If the platform allows more, raise --api-budget`,
  )
}

/** Constant time. */
function createWaitingLine() {
  const ranks: Readonly<Record<Rank, Map<string, Set<Waiter>>>> = {
    next: new Map(),
    0: new Map(),
    1: new Map(),
    2: new Map(),
  }
  const sizes: Record<Rank, number> = { next: 0, 0: 0, 1: 0, 2: 0 }

  /** @returns the other waiters of its service, if any */
  function remove(waiter: Waiter): Set<Waiter> | undefined {
    const { service, priority } = waiter
    const waiting = ranks[priority].get(service)
    if (waiting?.delete(waiter) !== true) return undefined
    sizes[priority] -= 1
    if (waiting.size > 0) return waiting
    ranks[priority].delete(service)
    return undefined
  }

  return {
    size: (of: readonly Rank[]) => of.reduce<number>((sum, rank) => sum + sizes[rank], 0),
    add(waiter: Waiter): void {
      const { service, priority } = waiter
      const waiting = ranks[priority].get(service)
      if (waiting === undefined) ranks[priority].set(service, new Set([waiter]))
      else waiting.add(waiter)
      sizes[priority] += 1
    },
    remove,
    first(): Waiter | undefined {
      for (const rank of RANKS)
        for (const waiting of ranks[rank].values()) for (const waiter of waiting) return waiter
      return undefined
    },
    serve(waiter: Waiter): void {
      const others = remove(waiter)
      if (others === undefined) return
      ranks[waiter.priority].delete(waiter.service)
      ranks[waiter.priority].set(waiter.service, others)
    },
  }
}
