import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../../src/lib/clock.ts'

/** A clock that stands still until it is told to go on. Timers go off in the order of their times. */
export interface FakeClock extends Clock {
  /** Goes on by `ms`, timer by timer; after each, what was promised runs. */
  advance(ms: number): Promise<void>
}

export function createFakeClock(): FakeClock {
  const EPOCH = Date.UTC(2026, 0, 31)
  let time = 0
  let timers: { readonly at: number; readonly callback: () => void }[] = []

  return {
    now: () => EPOCH + time,
    monotonic: () => time,
    after(delayMs, callback) {
      const timer = { at: time + Math.max(0, delayMs), callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    async advance(ms) {
      const end = time + ms
      for (;;) {
        await settle()
        const next = timers.toSorted((a, b) => a.at - b.at)[0]
        if (next === undefined || next.at > end) break
        timers = timers.filter((other) => other !== next)
        time = Math.max(time, next.at)
        next.callback()
      }
      time = end
    },
  }
}

/** Until all that was promised has run, however long its chain. */
async function settle(): Promise<void> {
  await setImmediate()
}

/** The clock of the machine, for what goes over a real connection. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
