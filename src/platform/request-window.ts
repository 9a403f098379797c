import type { Clock } from '../lib/clock.ts'

/** Permit for one request. Call `sent` or `release`: otherwise it counts as sent after 30 s. */
export interface BudgetPlace {
  sent(): void
  ended(): void
  release(): void
}

/** Share of the window, added twice because of network jitter. 98 % of the budget stays usable. */
export const MARGIN = 0.01

/** ms until an unused permit counts as sent. Writing an intent and connecting take less. */
const LONGEST_HOLD_MS = 30_000

/**
 * Counts a request for longer than the server does: until one window and one margin after its latest possible arrival.
 * That is the answer, or one margin after sending, whichever is earlier.
 */
export function createRequestWindow(options: {
  readonly windowMs: number
  readonly clock: Clock
  readonly onFree: () => void
}) {
  const { windowMs, clock, onFree } = options
  const margin = windowMs * MARGIN
  /** Permits of unsent requests, with the time of taking, oldest first. */
  const open = new Map<object, number>()
  const sent: { arrivedAt: number }[] = []

  function stamp(now: number): { arrivedAt: number } {
    const entry = { arrivedAt: now + margin }
    sent.push(entry)
    return entry
  }

  function forgetOld(now: number): void {
    for (const [place, takenAt] of open) {
      if (takenAt + LONGEST_HOLD_MS > now) break
      open.delete(place)
      stamp(takenAt + LONGEST_HOLD_MS)
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
    /** Monotonic ms. Call `used` first, which drops old requests. */
    nextFreeAt(): number | undefined {
      const [first] = sent
      if (first !== undefined) return endOf(first)
      for (const takenAt of open.values()) return takenAt + LONGEST_HOLD_MS
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

/** If a timer was late, the next requests go earlier, by at most this share of the period. */
const CATCH_UP = 0.02

/** Spreads requests evenly over the period. Requests that a quiet time left unused can be sent together. */
export function createPace({ requests, periodMs }: { readonly requests: number; readonly periodMs: number }) {
  const spacing = periodMs / requests
  const lot = periodMs - spacing
  /** When the next request is due, if all are evenly spaced. A request can go up to one `lot` earlier. */
  let even = -Infinity
  return {
    readyAt: () => even - lot,
    takeAtOnce(now: number): void {
      even = Math.max(even, now) + spacing
    },
    /** After a wait, the next requests go evenly spaced, not together. */
    takeAfterWait(now: number): void {
      even = Math.max(even, now + lot - periodMs * CATCH_UP) + spacing
    },
  }
}
