import type { Clock } from '../../src/lib/clock.ts'

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves the time on by `ms`, runs the timers that fall due on the way, in order, each at its own time,
   * and lets promises and immediates settle after each and before the first.
   */
  advance(ms: number): Promise<void>
  /** Lets promises and immediates settle; time stands still. */
  settle(): Promise<void>
  /** Lets the wall clock jump; timers and `monotonic` do not notice. */
  jump(ms: number): void
  /** Timers that wait. */
  readonly pending: number
}

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** Hops through the event loop that code under test may need until it waits for a timer again. */
const HOPS = 5

/** @param startMs what `now()` says at first, ms since the epoch */
export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const timers = new Set<Timer>()
  let elapsed = 0
  let jumped = 0

  function nextUntil(end: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer
    }
    return next
  }

  return {
    now: () => startMs + elapsed + jumped,
    monotonic: () => elapsed,
    after(delayMs, callback) {
      const timer = { at: elapsed + Math.max(0, delayMs), callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      const end = elapsed + ms
      await settle()
      for (let timer = nextUntil(end); timer !== undefined; timer = nextUntil(end)) {
        timers.delete(timer)
        elapsed = Math.max(elapsed, timer.at)
        timer.callback()
        await settle()
      }
      elapsed = end
      await settle()
    },
    settle,
    jump(ms) {
      jumped += ms
    },
    get pending() {
      return timers.size
    },
  }
}

async function settle(): Promise<void> {
  for (let hop = 0; hop < HOPS; hop += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
}
