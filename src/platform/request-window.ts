import type { Clock } from '../lib/clock.ts'

/** Allows one request. Call `sent` or `release`. Otherwise, the request counts as sent after 30 s. */
export interface BudgetPlace {
  sent(): void
  ended(): void
  release(): void
}

/** Tolerance for network delays, as a share of the window. Each request counts for two tolerances longer. */
export const MARGIN = 0.01

/** ms until an allowed request counts as sent. Writing an intent and connecting take less. */
const LONGEST_HOLD_MS = 30_000

/**
 * Counts a request for longer than the server does, because its time of arrival is not known. The latest possible
 * arrival is the reply, or one margin after sending, whichever is earlier.
 */
export function createRequestWindow(options: {
  readonly windowMs: number
  readonly clock: Clock
  readonly onFree: () => void
}) {
  const { windowMs, clock, onFree } = options
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
    /** Monotonic ms. Right only after `used`, which drops old requests. */
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

/** Share of the period by which requests can go earlier to make up for a late timer. */
const CATCH_UP = 0.02

/** Spreads requests evenly over the period. After a quiet time, several can go together. */
export function createPace({ requests, periodMs }: { readonly requests: number; readonly periodMs: number }) {
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
