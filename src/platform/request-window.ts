/**
 * The last window of requests, as the server may count them.
 *
 * The server counts a request when it arrives; that is after it was sent and before it was answered. So a
 * place counts as long as the request is not sent, and from then on as if the request arrived with its answer,
 * or one margin after it was sent, whichever is first. One more margin is kept free against jitter.
 */
export interface RequestWindow {
  /** Places taken. */
  used(now: number): number
  /** When a place will be free that is not free now; `undefined` when none is taken. */
  nextFreeAt(now: number): number | undefined
  take(now: number): Place
}

export interface Place {
  /** The request goes onto the wire. */
  sent(now: number): void
  /** It was answered, or it failed. */
  ended(now: number): void
  /** It will not be sent: the place is free again. */
  release(): void
}

/** Part of the window that is kept free against jitter; with two of them at most, 98 % of the budget can be used. */
export const MARGIN = 0.01

/**
 * A place that nobody used or gave back counts as sent after this time, so that nothing blocks for ever. Longer than it
 * takes to write an intent and to make a connection.
 */
const LONGEST_HOLD_MS = 30_000

/** A window of `windowMs` milliseconds on a clock that never goes back. */
export function createRequestWindow(windowMs: number): RequestWindow {
  const margin = windowMs * MARGIN
  /** Taken and not sent, with the time they were taken; in that order. */
  const open = new Map<object, number>()
  /** Sent, in that order; those before `head` no longer count. */
  const sent: { arrivedAt: number }[] = []
  let head = 0

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
    for (let first = sent[head]; first !== undefined && endOf(first) <= now; first = sent[head]) head += 1
    if (head > 1_000 && head * 2 > sent.length) {
      sent.splice(0, head)
      head = 0
    }
  }

  function endOf(entry: { readonly arrivedAt: number }): number {
    return entry.arrivedAt + windowMs + margin
  }

  return {
    used(now) {
      forgetOld(now)
      return open.size + sent.length - head
    },
    nextFreeAt(now) {
      forgetOld(now)
      const first = sent[head]
      if (first !== undefined) return endOf(first)
      for (const takenAt of open.values()) return takenAt + LONGEST_HOLD_MS
      return undefined
    },
    take(now) {
      const place = {}
      let entry: { arrivedAt: number } | undefined
      open.set(place, now)

      function markSent(at: number): void {
        if (entry !== undefined) return
        open.delete(place)
        entry = stamp(at)
      }
      return {
        sent: markSent,
        ended(at) {
          markSent(at)
          if (entry !== undefined) entry.arrivedAt = Math.min(entry.arrivedAt, at)
        },
        release() {
          open.delete(place)
        },
      }
    },
  }
}

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
