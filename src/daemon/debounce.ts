import type { Clock } from '../lib/clock.ts'

export interface DebounceOptions {
  readonly clock: Clock
  /** How long nothing may happen before `onQuiet`. */
  readonly quietMs: number
  /** How long steady noise puts it off at most. */
  readonly noisyLimitMs: number
  readonly onQuiet: () => void
}

/** Waits until noise has ended, since a file may be half written. Takes one timer, however much happens. */
export function createDebounce({ clock, quietMs, noisyLimitMs, onQuiet }: DebounceOptions) {
  let isPending = false
  let quietAt = 0
  let cancelTimer: (() => void) | undefined

  function settle(limitAt: number): void {
    const waitMs = Math.min(quietAt, limitAt) - clock.monotonic()
    if (waitMs > 0) cancelTimer = clock.after(waitMs, () => settle(limitAt))
    else {
      isPending = false
      onQuiet()
    }
  }

  return {
    /** Something happened. */
    noise(): void {
      const now = clock.monotonic()
      quietAt = now + quietMs
      if (isPending) return
      isPending = true
      settle(now + noisyLimitMs)
    },
    /** Whether `onQuiet` is still to come. */
    isPending: () => isPending,
    /** What was to come does not. */
    cancel(): void {
      isPending = false
      cancelTimer?.()
    },
  }
}
