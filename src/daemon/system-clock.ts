import type { Clock } from '../lib/clock.ts'

/** `setTimeout` turns a longer delay into 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after,
}

function after(delayMs: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout
  function wait(remainingMs: number): void {
    const step = Math.min(remainingMs, LONGEST_TIMER_MS)
    timer = setTimeout(() => {
      if (remainingMs > step) wait(remainingMs - step)
      else callback()
    }, step).unref()
  }
  wait(Math.max(0, delayMs))
  return () => clearTimeout(timer)
}
