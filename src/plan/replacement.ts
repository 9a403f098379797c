import type { Replaced } from './record.ts'

/** Between two replacements of one key; each next wait is twice as long. */
const FIRST_WAIT_MS = 3_600_000
const LONGEST_WAIT_MS = 24 * 3_600_000

/** After so long without one the waits begin anew. */
const CALM_MS = 7 * LONGEST_WAIT_MS

/**
 * From when on the pipe of a key may be replaced; undefined: at once. A pipe that goes missing again and again is
 * no deletion that somebody meant. On the steady clock, ms since the epoch.
 */
export function replaceableFrom(replaced: Replaced | undefined): number | undefined {
  if (replaced === undefined) return undefined
  return replaced.at + Math.min(FIRST_WAIT_MS * 2 ** Math.min(replaced.count - 1, 10), LONGEST_WAIT_MS)
}

/** The count after one more replacement. @param id of the pipe that is given up @param now on the steady clock */
export function replacedAfter(replaced: Replaced | undefined, id: string | undefined, now: number): Replaced {
  const isCalm = replaced === undefined || now - replaced.at >= CALM_MS
  return { count: isCalm ? 1 : replaced.count + 1, at: now, id }
}
