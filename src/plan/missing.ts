import type { Misses } from './record.ts'

/** A 404 is believed after this many in a row … */
const CONFIRMING_MISSES = 3
/** … over at least this long … */
const CONFIRMING_MS = 60_000
/** … none of them within this time after the creation. */
const SETTLING_MS = 60_000

const MASS_SHARE = 0.3
const MASS_LEAST = 3

/**
 * The misses after one more 404 at `now`. One soon after the creation does not count, nor do misses
 * "from the future", which a clock that was set back leaves behind. Once they prove that the pipe is gone they stay as
 * they are: there is nothing more to write down.
 */
export function missesAfter(input: {
  readonly misses: Misses | undefined
  readonly createdAt: number
  readonly now: number
}): Misses | undefined {
  const { misses, createdAt, now } = input
  if (now >= createdAt && now - createdAt < SETTLING_MS) return undefined
  if (misses === undefined || misses.lastAt > now) return { count: 1, firstAt: now, lastAt: now }
  if (isConfirmed(misses)) return misses
  return { count: misses.count + 1, firstAt: misses.firstAt, lastAt: now }
}

/** Whether the misses prove that the pipe is gone. */
export function isConfirmed(misses: Misses | undefined): boolean {
  return (
    misses !== undefined &&
    misses.count >= CONFIRMING_MISSES &&
    misses.lastAt - misses.firstAt >= CONFIRMING_MS
  )
}

/** Whether so many of a service's pipes are not found that it cannot be deletions. */
export function isMassMissing(counts: { readonly missing: number; readonly of: number }): boolean {
  return counts.missing >= MASS_LEAST && counts.missing >= counts.of * MASS_SHARE
}
