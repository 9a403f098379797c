import type { Clock } from '../../src/lib/clock.ts'

/** Waits for the request budget are shorter; limits of requests, and timers in the background, are not. */
const SHORT_WAIT_MS = 2_000

/** Time that passes only if a test skips some. A short wait, such as for the request budget, skips its time by itself. */
export interface SkippedTime extends Clock {
  /** The waits that end until then end, in the order of their times. */
  skip(ms: number): void
}

interface Wait {
  readonly at: number
  readonly callback: () => void
}

export function createSkippedTime(): SkippedTime {
  // The strict server compares with the time of day.
  const start = Date.now()
  const waits = new Set<Wait>()
  let time = 0
  return {
    now: () => start + time,
    monotonic: () => time,
    after(delayMs, callback) {
      const wait = { at: time + Math.max(0, delayMs), callback }
      if (delayMs < SHORT_WAIT_MS) {
        const immediate = setImmediate(() => {
          time = Math.max(time, wait.at)
          callback()
        })
        return () => clearImmediate(immediate)
      }
      waits.add(wait)
      return () => waits.delete(wait)
    },
    skip(ms) {
      const end = time + ms
      for (const wait of [...waits].toSorted((a, b) => a.at - b.at)) {
        if (wait.at > end || !waits.delete(wait)) continue
        time = Math.max(time, wait.at)
        wait.callback()
      }
      time = end
    },
  }
}
