export interface Clock {
  /** Milliseconds since the Unix epoch, for display and for stored values. This clock can jump. */
  now(): number
  /** Milliseconds since an arbitrary point, to measure and wait. This clock never goes back. */
  monotonic(): number
  /** The timer does not keep the process alive. @returns a function that cancels it */
  after(delayMs: number, callback: () => void): () => void
}

/** @returns a clock to measure ages: ms since the epoch, unaffected by later changes of the system time */
export function createSteadyClock(clock: Clock): () => number {
  const offset = clock.now() - clock.monotonic()
  return () => clock.monotonic() + offset
}

/** Like `AbortSignal.timeout`, but by the given clock. */
export function timeLimit(clock: Clock, delayMs: number): Disposable & { readonly signal: AbortSignal } {
  const limit = new AbortController()
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  const cancel = clock.after(delayMs, () => limit.abort(late))
  return { signal: limit.signal, [Symbol.dispose]: cancel }
}

export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(delayMs, end)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    function end(): void {
      cancel()
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason as Error)
      else resolve()
    }
  })
}

/**
 * Resolves once `signal` is aborted. `util.aborted` never resolves for a signal of `AbortSignal.any` that was
 * collected as garbage.
 */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
