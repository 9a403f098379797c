const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 5 * 60_000

/** While an address is wrong, it is tried no more often than this. */
const LEAST_ADDRESS_WAIT_MS = 60_000

/**
 * How long to wait after a failed attempt, in ms: what the receiver said, or longer and longer with jitter.
 * @param failures in a row, from 1
 * @param random from 0 to below 1
 */
export function waitAfter(
  failures: number,
  failure: { readonly result: 'again' | 'address'; readonly retryAfterMs: number | undefined },
  random: number,
): number {
  if (failure.retryAfterMs !== undefined) return failure.retryAfterMs
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 20))
  const wait = Math.round(longest * (0.5 + random / 2))
  return failure.result === 'address' ? Math.max(LEAST_ADDRESS_WAIT_MS, wait) : wait
}

/** At most so many attempts in any such time. */
export interface Pace {
  /** When the next attempt may begin, on the clock that `note` was told. */
  nextAt(): number
  note(now: number): void
}

export function createPace({
  requests,
  windowMs,
}: {
  readonly requests: number
  readonly windowMs: number
}): Pace {
  let times: readonly number[] = []
  return {
    nextAt: () => (times.length < requests ? -Infinity : (times[0] ?? 0) + windowMs),
    note(now) {
      times = [...times, now].slice(-requests)
    },
  }
}
