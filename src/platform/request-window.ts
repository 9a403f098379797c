import type { Clock } from '../lib/clock.ts'

/** A permit. Use or release it: otherwise it counts as sent after 30 s. */
export interface BudgetPlace {
  sent(): void
  ended(): void
  release(): void
}

/** Share of the window, against jitter. Two margins leave 98 % of the budget usable. */
export const MARGIN = 0.01

/**
 * An unused permit then counts as sent: a leak never blocks. Longer than an intent's write plus a connection.
 */
const LONGEST_HOLD_MS = 30_000

/**
 * Counts requests as the server might. A permit counts when it is taken. Once sent, its request arrives with
 * its answer or after one margin, if earlier. Another margin absorbs jitter.
 */
export function createRequestWindow(options: {
  readonly windowMs: number
  readonly clock: Clock
  readonly onFree: () => void
}) {
  const { windowMs, clock, onFree } = options
  const margin = windowMs * MARGIN
  /** Permits in the order of taking, with the time. */
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
    /** Ms on the monotonic clock. Call `used` first. */
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

/** Share of the period that a late timer can catch up. */
const CATCH_UP = 0.02

/** Spreads a large budget over its window. After a quiet time, unused requests can go together. */
export function createPace({ requests, periodMs }: { readonly requests: number; readonly periodMs: number }) {
  const spacing = periodMs / requests
  const lot = periodMs - spacing
  /** Time of the next evenly spaced request. It can be up to one lot earlier. */
  let even = -Infinity
  return {
    readyAt: () => even - lot,
    takeAtOnce(now: number): void {
      even = Math.max(even, now) + spacing
    },
    /** After a wait, requests go evenly. */
    takeAfterWait(now: number): void {
      even = Math.max(even, now + lot - periodMs * CATCH_UP) + spacing
    },
  }
}
