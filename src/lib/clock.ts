/** Tests and simulations pass their own clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. Can jump. For display and for values that outlive the process. */
  now(): number
  /** Milliseconds since an arbitrary point. Never goes back. For measuring and waiting. */
  monotonic(): number
  /** Does not keep the process alive. @returns cancel function */
  after(delayMs: number, callback: () => void): () => void
}

/** Never jumps: for minimum ages. @returns ms since the epoch */
export function createSteadyClock(clock: Clock): () => number {
  const offset = clock.now() - clock.monotonic()
  return () => clock.monotonic() + offset
}

/** Aborts with the reason of `AbortSignal.timeout`. */
export function timeLimit(clock: Clock, delayMs: number): Disposable & { readonly signal: AbortSignal } {
  const limit = new AbortController()
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  const cancel = clock.after(delayMs, () => limit.abort(late))
  return { signal: limit.signal, [Symbol.dispose]: cancel }
}

/** @throws the signal's reason if `signal` is aborted first */
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
