import type { Failed } from './outcome.ts'
import type { Backoff } from './record.ts'

/** No wait is longer, whatever the platform asked for (`lib/retry-after.ts` caps it likewise). */
const LONGEST_MS = 15 * 60_000

/** First ceiling and cap of the wait, in milliseconds, by what failed. */
const SLOW = { firstMs: 5_000, capMs: LONGEST_MS }
const QUICK = { firstMs: 1_000, capMs: 5 * 60_000 }

const SHORTEST_MS = 250

/** Whether a key still waits. A wait that seems longer than any was written before the clock was set back: it is over. */
export function isWaiting({ until }: Backoff, now: number): boolean {
  return until > now && until - now <= LONGEST_MS
}

/**
 * How long a key waits after a failure: exponential, capped, with full jitter; what the platform asked for comes first.
 * @param digest what the attempt depended on; another digest starts afresh
 * @param random from 0 to below 1
 */
export function backoffAfter(input: {
  readonly previous: Backoff | undefined
  readonly outcome: Failed
  readonly digest: string
  readonly now: number
  readonly random: () => number
}): Backoff {
  const { previous, outcome, digest, now, random } = input
  const failures = previous?.digest === digest ? previous.failures + 1 : 1
  const { firstMs, capMs } = outcome.reason === 'Rejected' ? SLOW : QUICK
  const ceiling = Math.min(capMs, firstMs * 2 ** Math.min(failures - 1, 30))
  const wait = outcome.retryAfterMs ?? Math.max(SHORTEST_MS, random() * ceiling)
  return { failures, until: now + Math.ceil(wait), digest }
}
