import type { Clock } from '../../src/lib/clock.ts'

/** How far the time goes with a turn of the event loop. */
const STEP_MS = 20

/**
 * Time that passes with turns of the event loop, about 20 times as quick as real time, while somebody waits. For what waits for replies of a
 * server in this process: a busy machine delays the turns, and so hastens no limit.
 */
export function createTurningClock(startMs = Date.now()): Clock & Disposable & { skip(ms: number): void } {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>()
  let elapsed = 0
  let isTurning = false

  function turn(): void {
    isTurning = timers.size > 0
    if (!isTurning) return
    elapsed += STEP_MS
    for (const timer of [...timers].toSorted((a, b) => a.at - b.at))
      if (timer.at <= elapsed && timers.delete(timer)) timer.callback()
    setTimeout(turn, 1).unref()
  }

  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    skip(ms) {
      elapsed += ms
    },
    /** What still waits waits for ever, and costs no time of other tests. */
    [Symbol.dispose]() {
      timers.clear()
    },
    after(delayMs, callback) {
      const timer = { at: elapsed + delayMs, callback }
      timers.add(timer)
      if (!isTurning) {
        isTurning = true
        setTimeout(turn, 1).unref()
      }
      return () => timers.delete(timer)
    },
  }
}
