import type { Clock } from '../../../src/lib/clock.ts'

/** The clock of the machine, for what goes over a real connection. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
