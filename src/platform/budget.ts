import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../reconcile/events.ts'
import type { Priority } from '../reconcile/ports.ts'
import type { RemoteError } from '../reconcile/remote-error.ts'
import { notSent } from './not-sent.ts'
import { createPace } from './pace.ts'
import { createRequestWindow, MARGIN, type Place } from './request-window.ts'
import { createWaitingLine } from './waiting-line.ts'

/** Far above what a daemon asks for at once; more than this waiting is a fault, not a load. */
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

export interface Turn {
  /** Lanes of the same priority take turns: the name of a service. */
  readonly lane: string
  readonly priority: Priority
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
  /** A place that is free now, if nobody waits for it. */
  take(priority: Priority): BudgetPlace | undefined
  /**
   * Waits for a place: lower priorities first, lanes in turn, first come first served within a lane.
   * @throws the signal's reason when it is aborted first
   * @throws {RemoteError} `Throttled` when too many wait already
   */
  acquire(turn: Turn): Promise<BudgetPlace>
  /** Grants nothing for `ms` milliseconds; never shortens a pause. */
  pause(ms: number): void
  snapshot(): BudgetSnapshot
}

interface Waiter {
  readonly lane: string
  readonly priority: Priority
  readonly since: number
  grant(place: BudgetPlace): void
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

  /** When the next of this priority may be served, as far as is known now; not after `now`: at once. */
  function servableAt(priority: Priority, now: number): number {
    const places = priority === 0 ? requests : forAll
    const freeAt = window.used(now) < places ? now : (window.nextFreeAt(now) ?? now)
    return Math.max(pausedUntil, freeAt, priority === 0 ? now : pace.readyAt())
  }

  function nextWaiter(now: number): Waiter | undefined {
    if (line.urgent > 0) return servableAt(0, now) <= now ? line.nextUrgent() : undefined
    return line.size > 0 && servableAt(2, now) <= now ? line.next() : undefined
  }

  function serve(): void {
    const now = clock.monotonic()
    for (let waiter = nextWaiter(now); waiter !== undefined; waiter = nextWaiter(now)) {
      // Whoever is not urgent goes at an even pace, so that the urgent find a place soon.
      if (waiter.priority !== 0) pace.takeAfterWait(now)
      waiter.grant(placeAt(now))
      emit({ type: 'BudgetWaited', service: waiter.lane, waitMs: now - waiter.since })
    }
    setAlarm(now)
  }

  function setAlarm(now: number): void {
    const at = line.size === 0 ? undefined : nextServing(now)
    if (at === alarm?.at) return
    alarm?.cancel()
    alarm = at === undefined ? undefined : { at, cancel: clock.after(Math.ceil(at - now), onAlarm) }
  }

  function nextServing(now: number): number {
    // Never at once: a timer that goes off early must not be set again without time passing.
    return Math.max(servableAt(line.urgent > 0 ? 0 : 2, now), now + 1)
  }

  function onAlarm(): void {
    alarm = undefined
    serve()
  }

  function takeFree(priority: Priority): BudgetPlace | undefined {
    const now = clock.monotonic()
    const ahead = priority === 0 ? line.urgent : line.size
    if (ahead > 0 || servableAt(priority, now) > now) return undefined
    if (priority !== 0) pace.takeAtOnce(now)
    return placeAt(now)
  }

  return {
    take: takeFree,
    async acquire({ lane, priority, signal }) {
      signal.throwIfAborted()
      const free = takeFree(priority)
      if (free !== undefined) return free
      const now = clock.monotonic()
      if (line.size >= LONGEST_LINE) throw tooManyWaiting()
      return new Promise<BudgetPlace>((resolve, reject) => {
        const waiter: Waiter = {
          lane,
          priority,
          since: now,
          grant(place) {
            signal.removeEventListener('abort', onAbort)
            resolve(place)
          },
        }
        function onAbort(): void {
          line.remove(waiter, lane, priority)
          setAlarm(clock.monotonic())
          reject(signal.reason)
        }
        signal.addEventListener('abort', onAbort, { once: true })
        line.add(waiter, lane, priority)
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

function tooManyWaiting(): RemoteError {
  return notSent(
    'Throttled',
    `${LONGEST_LINE} requests wait for the request budget already; raise --api-budget if the platform allows more`,
  )
}
