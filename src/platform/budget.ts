import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import { notSent, type RemoteError } from '../contract/remote-error.ts'
import type { Priority } from '../contract/platform.ts'

/** `next`: another request of an operation that has begun. */
export type Rank = Priority | 'next'

const RANKS: readonly Rank[] = ['next', 0, 1]
const URGENT_RANKS: readonly Rank[] = ['next', 0]

/** ms. Writing an intent and connecting take less. */
const LEAST_HOLD_MS = 30_000

const LONGEST_LINE = 10_000

interface Wanted {
  readonly priority: Rank
  readonly places: number
}

export interface BudgetPlaces {
  readonly place: BudgetPlace
  readonly spares: readonly BudgetPlace[]
}

export type Budget = ReturnType<typeof createBudget>

interface Waiter extends Wanted {
  readonly service: string
  readonly since: number
  grant(places: BudgetPlaces): void
}

export function createBudget(options: {
  readonly requests: number
  readonly windowMs: number
  readonly requestTimeoutMs?: number
  readonly clock: Clock
  readonly emit: Emit
}) {
  const { requests, windowMs, requestTimeoutMs = 0, clock, emit } = options
  const holdMs = Math.max(LEAST_HOLD_MS, 3 * requestTimeoutMs)
  const window = createRequestWindow({ windowMs, holdMs, clock, onFree: serve })
  // Shared, because the retries of one service must not delay another.
  const patient = new Set<Waiter>()
  const line = { next: new Set<Waiter>(), 0: new Set<Waiter>(), 1: patient, 2: patient }
  const pace = createPace({ requests, periodMs: windowMs * (1 + 2 * MARGIN) })
  let pausedUntil = -Infinity
  let alarm: { readonly at: number; readonly cancel: () => void } | undefined

  function waiting(ranks: readonly Rank[]): number {
    return ranks.reduce<number>((sum, rank) => sum + line[rank].size, 0)
  }

  function firstWaiter(): Waiter | undefined {
    for (const rank of RANKS) for (const waiter of line[rank]) return waiter
    return undefined
  }

  function placesAt(now: number, count: number): BudgetPlaces {
    return { place: window.take(now), spares: Array.from({ length: count - 1 }, () => window.take(now)) }
  }

  function countOf({ places }: Wanted): number {
    return Math.min(places, requests)
  }

  function servableAt(wanted: Wanted, now: number): number {
    const isUrgent = URGENT_RANKS.includes(wanted.priority)
    const isFree = window.used(now) + countOf(wanted) <= requests
    const freeAt = isFree ? now : (window.nextFreeAt() ?? now)
    return Math.max(pausedUntil, freeAt, isUrgent ? now : pace.readyAt())
  }

  function serve(): void {
    const now = clock.monotonic()
    for (let waiter = firstWaiter(); waiter !== undefined; waiter = firstWaiter()) {
      if (servableAt(waiter, now) > now) break
      line[waiter.priority].delete(waiter)
      const count = countOf(waiter)
      if (!URGENT_RANKS.includes(waiter.priority)) for (let n = 0; n < count; n += 1) pace.takeAfterWait(now)
      waiter.grant(placesAt(now, count))
      emit({ type: 'BudgetWaited', service: waiter.service, waitMs: now - waiter.since })
    }
    setAlarm(now)
  }

  function setAlarm(now: number): void {
    const first = firstWaiter()
    // At least 1 ms later, because timers can fire early.
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
    if (waiting(isUrgent ? URGENT_RANKS : RANKS) > 0 || servableAt(wanted, now) > now) return undefined
    const count = countOf(wanted)
    if (!isUrgent) for (let n = 0; n < count; n += 1) pace.takeAtOnce(now)
    return placesAt(now, count)
  }

  return {
    /** ms after which a sent request no longer counts. */
    turnMs: windowMs * (1 + 2 * MARGIN),
    /**
     * Waits until the budget allows the requests. Rank `next` comes first, then the lowest priority number, then the order of arrival.
     * @throws {RemoteError} `Throttled` if the queue is full
     */
    async acquire({
      service,
      priority,
      places,
      signal,
    }: Wanted & { readonly service: string; readonly signal: AbortSignal }) {
      signal.throwIfAborted()
      const free = takeFree({ priority, places })
      if (free !== undefined) return free
      const now = clock.monotonic()
      if (waiting(RANKS) >= LONGEST_LINE) throw tooManyWaiting()
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
          line[priority].delete(waiter)
          setAlarm(clock.monotonic())
          reject(signal.reason)
        }
        signal.addEventListener('abort', onAbort, { once: true })
        line[priority].add(waiter)
        serve()
      })
    },
    pause(ms: number) {
      pausedUntil = Math.max(pausedUntil, clock.monotonic() + ms)
      setAlarm(clock.monotonic())
    },
    snapshot() {
      const now = clock.monotonic()
      return {
        used: window.used(now),
        waiting: waiting(RANKS),
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

/** Allows one request. Call `sent` or `release`. Otherwise, the request counts as sent after `holdMs`. */
interface BudgetPlace {
  sent(): void
  ended(): void
  release(): void
}

/** Tolerance for network delays, as a share of the window. Each request counts for two tolerances longer. */
const MARGIN = 0.01

/**
 * Counts a request for longer than the server does, because its time of arrival is not known. The latest possible
 * arrival is the reply, or one margin after sending, whichever is earlier.
 */
function createRequestWindow(options: {
  readonly windowMs: number
  /** ms until an allowed request counts as sent. */
  readonly holdMs: number
  readonly clock: Clock
  readonly onFree: () => void
}) {
  const { windowMs, holdMs, clock, onFree } = options
  const margin = windowMs * MARGIN
  /** Allowed requests that are not sent yet, oldest first, with the time they were allowed. */
  const open = new Map<object, number>()
  const sent: { arrivedAt: number }[] = []

  function stamp(now: number): { arrivedAt: number } {
    const entry = { arrivedAt: now + margin }
    sent.push(entry)
    return entry
  }

  function forgetOld(now: number): void {
    for (const [place, takenAt] of open) {
      if (takenAt + holdMs > now) break
      open.delete(place)
      stamp(takenAt + holdMs)
    }
    while (sent[0] !== undefined && endOf(sent[0]) <= now) sent.shift()
  }

  function endOf(entry: { readonly arrivedAt: number }): number {
    return entry.arrivedAt + windowMs + margin
  }

  return {
    used(now: number): number {
      forgetOld(now)
      return open.size + sent.length
    },
    /** Monotonic ms. Right only after `used`, which drops old requests. */
    nextFreeAt(): number | undefined {
      const [first] = sent
      if (first !== undefined) return endOf(first)
      for (const takenAt of open.values()) return takenAt + holdMs
      return undefined
    },
    take(now: number): BudgetPlace {
      const place = {}
      let entry: { arrivedAt: number } | undefined
      open.set(place, now)

      function stampOnce(at: number): { arrivedAt: number } {
        open.delete(place)
        entry ??= stamp(at)
        return entry
      }
      return {
        sent: () => void stampOnce(clock.monotonic()),
        ended() {
          const at = clock.monotonic()
          const arrived = stampOnce(at)
          arrived.arrivedAt = Math.min(arrived.arrivedAt, at)
          onFree()
        },
        release() {
          open.delete(place)
          onFree()
        },
      }
    },
  }
}

/** Share of the period by which requests can go earlier to make up for a late timer. */
const CATCH_UP = 0.02

/** Spreads requests evenly over the period. After a quiet time, several can go together. */
function createPace({ requests, periodMs }: { readonly requests: number; readonly periodMs: number }) {
  const spacing = periodMs / requests
  const lot = periodMs - spacing
  /** When the next request is due, if all are evenly spaced: monotonic ms. */
  let even = -Infinity
  return {
    readyAt: () => even - lot,
    takeAtOnce(now: number): void {
      even = Math.max(even, now) + spacing
    },
    takeAfterWait(now: number): void {
      even = Math.max(even, now + lot - periodMs * CATCH_UP) + spacing
    },
  }
}
