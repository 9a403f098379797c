import type { Clock } from '../../src/lib/clock.ts'
import { BEGIN, type Model } from './model.ts'

/** Waits up to this are passed at once; longer ones are limits, and nothing takes that long. */
const SHORT_MS = 5_000

/** A clock that can be set for a moment. */
export type SetClock = Clock & { at: number | undefined }

/** The clock of a model; it can be set for a moment. @param behind by how much it is behind, ms */
export function clockOf(model: Model, behind: () => number = () => 0): SetClock {
  return {
    at: undefined,
    now() {
      return BEGIN + model.jumpedMs + this.monotonic()
    },
    monotonic() {
      return this.at ?? model.now - behind()
    },
    after(ms, callback) {
      if (ms <= SHORT_MS) queueMicrotask(callback)
      return () => undefined
    },
  }
}
