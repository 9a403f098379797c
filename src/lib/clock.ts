/** Time as an argument, so that tests and simulations can drive it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May jump; for what people read and for what outlives the process. */
  now(): number
  /** Milliseconds since an arbitrary point. Never goes back; for measuring and waiting. */
  monotonic(): number
  /** Runs `callback` once after `delayMs`; the returned function cancels it. Does not keep the process alive. */
  after(delayMs: number, callback: () => void): () => void
}

/**
 * The wall clock as it was when this was made, and what has passed since: it never jumps. For what has to have been a while
 * ago. What a process before this one noted is as right as the wall clock was at both starts.
 * @returns ms since the epoch
 */
export function createSteadyClock(clock: Clock): () => number {
  const offset = clock.now() - clock.monotonic()
  return () => clock.monotonic() + offset
}

/**
 * Waits `delayMs` milliseconds.
 * @throws the signal's reason when `signal` is aborted first
 */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(reasonOf(signal))
      return
    }
    const onAbort = () => {
      cancel()
      reject(reasonOf(signal))
    }
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('stopped', { cause: signal.reason })
}
