/** Part of the period by which the pace may be caught up with when a timer was late. */
const CATCH_UP = 0.02

/**
 * Spreads requests evenly when there are more than may be sent. Without it a budget of many requests a second would be
 * spent in the first milliseconds of each window, and whoever came after would wait for the next. After a quiet time
 * as many may go at once as went too few.
 */
export interface Pace {
  /** When the next request may go. */
  readyAt(): number
  /** One goes that did not have to wait. */
  takeAtOnce(now: number): void
  /** One goes that had to wait: there are more than may be sent, and from here on they go evenly. */
  takeAfterWait(now: number): void
}

/** `requests` in any `periodMs` milliseconds in the long run, on a clock that never goes back. */
export function createPace(options: { readonly requests: number; readonly periodMs: number }): Pace {
  const { requests, periodMs } = options
  const spacing = periodMs / requests
  const lot = periodMs - spacing
  /** When the next one would go if all had gone evenly: at most a lot ahead of when it may go. */
  let even = -Infinity
  return {
    readyAt: () => even - lot,
    takeAtOnce(now) {
      even = Math.max(even, now) + spacing
    },
    takeAfterWait(now) {
      even = Math.max(even, now + lot - periodMs * CATCH_UP) + spacing
    },
  }
}
