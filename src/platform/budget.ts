import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import { notSent, type RemoteError } from '../contract/remote-error.ts'
import { createPace, createRequestWindow, MARGIN, type Place } from './request-window.ts'
import { createWaitingLine, type Rank } from './waiting-line.ts'

/** Far above what a daemon asks for at once; more than this waiting is a bug, not a load. */
const LONGEST_LINE = 10_000

/** Part of the budget that only priority 0 may use, of a budget that is large enough. */
const RESERVE = 0.005

/** The right to send one request. It must be used or released; what is not counts for 30 s, and a window. */
export interface BudgetPlace {
  /** The request goes onto the wire now. */
  sent(): void
  /** It was answered, or it failed. */
  ended(): void
  /** It will not be sent. */
  release(): void
}

/** What is wanted of a budget. */
export interface Wanted {
  readonly priority: Rank
  /** So many at once; as many as the budget has, where it has fewer. */
  readonly places: 1 | 2 | 3
}

export interface BudgetPlaces {
  readonly place: BudgetPlace
  /** Those beside it that were asked for, as far as the budget has room for so many at all. */
  readonly spares: readonly BudgetPlace[]
}

export interface WantedLater extends Wanted {
  /** The name of a service; those of the same priority are served in rotation. */
  readonly service: string
  readonly signal: AbortSignal
}

export interface BudgetSnapshot {
  /** Places taken in the current window. */
  readonly used: number
  readonly waiting: number
  /** Milliseconds. */
  readonly pausedForMs: number
}

/** The requests that one credential may send (design §7). */
export interface Budget {
  /** So long after its request was answered a place is free again, at the latest: ms. */
  readonly turnMs: number
  /** Places that are free now, if nobody waits for them. */
  take(wanted: Wanted): BudgetPlaces | undefined
  /**
   * Waits for places: who is `next` and lower priorities first, services in rotation, first come first served within a service.
   * @throws the signal's reason when it is aborted first
   * @throws {RemoteError} `Throttled` when too many wait already
   */
  acquire(wanted: WantedLater): Promise<BudgetPlaces>
  /** Grants nothing for `ms` milliseconds; never shortens a pause. */
  pause(ms: number): void
  snapshot(): BudgetSnapshot
}

interface Waiter extends Wanted {
  readonly service: string
  readonly since: number
  grant(places: BudgetPlaces): void
}

/** At most `requests` in any `windowMs` milliseconds, as the server sees it. */
export function createBudget(options: {
  readonly requests: number
  readonly windowMs: number
  readonly clock: Clock
  readonly emit: Emit
}): Budget {
  const { requests, windowMs, clock, emit } = options
  const window = createRequestWindow(windowMs)
  const line = createWaitingLine<Waiter>()
  const pace = createPace({ requests, periodMs: windowMs * (1 + 2 * MARGIN) })
  const forAll = requests - Math.floor(requests * RESERVE)
  let pausedUntil = -Infinity
  let alarm: { readonly at: number; readonly cancel: () => void } | undefined

  function placeAt(now: number): BudgetPlace {
    const place: Place = window.take(now)
    return {
      sent: () => place.sent(clock.monotonic()),
      ended() {
        place.ended(clock.monotonic())
        serve()
      },
      release() {
        place.release()
        serve()
      },
    }
  }

  function placesAt(now: number, count: number): BudgetPlaces {
    return { place: placeAt(now), spares: Array.from({ length: count - 1 }, () => placeAt(now)) }
  }

  /** As many as are wanted, or as the budget has. */
  function countOf({ places }: Wanted): number {
    return Math.min(places, forAll)
  }

  /** When this one may be served, as far as is known now; not after `now`: at once. */
  function servableAt(wanted: Wanted, now: number): number {
    const isUrgent = isUrgentRank(wanted.priority)
    const isFree = window.used(now) + countOf(wanted) <= (isUrgent ? requests : forAll)
    const freeAt = isFree ? now : (window.nextFreeAt(now) ?? now)
    return Math.max(pausedUntil, freeAt, isUrgent ? now : pace.readyAt())
  }

  function serve(): void {
    const now = clock.monotonic()
    for (let waiter = line.peek(); waiter !== undefined; waiter = line.peek()) {
      if (servableAt(waiter, now) > now) break
      line.next()
      const count = countOf(waiter)
      // Whoever is not urgent goes at an even pace, so that the urgent find a place soon.
      if (!isUrgentRank(waiter.priority)) for (let n = 0; n < count; n += 1) pace.takeAfterWait(now)
      waiter.grant(placesAt(now, count))
      emit({ type: 'BudgetWaited', service: waiter.service, waitMs: now - waiter.since })
    }
    setAlarm(now)
  }

  function setAlarm(now: number): void {
    const first = line.peek()
    // Never at once: a timer that goes off early must not be set again without time passing.
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
    const ahead = isUrgentRank(wanted.priority) ? line.urgent : line.size
    if (ahead > 0 || servableAt(wanted, now) > now) return undefined
    const count = countOf(wanted)
    if (!isUrgentRank(wanted.priority)) for (let n = 0; n < count; n += 1) pace.takeAtOnce(now)
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
      if (line.size >= LONGEST_LINE) throw tooManyWaiting()
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
          line.remove(waiter, service, priority)
          setAlarm(clock.monotonic())
          reject(signal.reason)
        }
        signal.addEventListener('abort', onAbort, { once: true })
        line.add(waiter, service, priority)
        // Also when others wait: a place may have become free since the alarm was set.
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
        waiting: line.size,
        pausedForMs: Math.max(0, pausedUntil - now),
      }
    },
  }
}

/** Who does not wait for the others to go evenly. */
function isUrgentRank(rank: Rank): boolean {
  return rank === 0 || rank === 'next'
}

function tooManyWaiting(): RemoteError {
  return notSent(
    'Throttled',
    `${LONGEST_LINE} requests already wait for the request budget. If the platform allows more, raise --api-budget`,
  )
}
