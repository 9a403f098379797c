import { sameId } from '../lib/same-id.ts'
import { EARLIER_KEPT, type LedgerRecord, type Replaced } from './record.ts'
import type { Removal } from './recorded-change.ts'

/** A 404 is believed after this many in a row … */
const CONFIRMING_MISSES = 3
/** … over at least this long … */
const CONFIRMING_MS = 60_000
/** … or this long, where the service has no other pipe that could be asked for … */
const ALONE_MS = 15 * 60_000
/** … none of them within this time after the creation. */
const SETTLING_MS = 60_000
/** Nobody looked for longer than this: the 404s before and after it are not in a row. */
const GAP_MS = 3 * 60_000
/** For so long a reading of another pipe speaks for the next ones, too. */
const BESIDE_MS = 45_000

const MASS_SHARE = 0.3
const MASS_LEAST = 3

/** 404s of the platform's own in a row, by one process with one credential. Times are of its monotonic clock, ms. */
export interface Misses {
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  /** Since when another pipe of the service has been found beside them, again and again; not before the first of them. */
  readonly besideSince: number | undefined
  /** Equal for equal credentials. */
  readonly credential: string | undefined
}

/**
 * Whether the same credential has been answered 200 for another pipe of the service, between the 404s: proof that it still
 * sees the service. `nobody`: there is no other pipe to ask for.
 */
export type Witness = 'answered' | 'silent' | 'nobody'

/**
 * The misses after one more 404 at `now`. One soon after the creation does not count. With other credentials, which may see
 * other things, and after a time in which nobody looked, it begins anew.
 * @param pipeAgeMs since the pipe was recorded
 * @param foundAt when another pipe of the service was last found with the same credential
 */
export function missesAfter(input: {
  readonly misses: Misses | undefined
  readonly ageMs: number
  readonly now: number
  readonly credential: string | undefined
  readonly foundAt: number | undefined
}): Misses | undefined {
  const { misses, ageMs, now, credential, foundAt } = input
  if (ageMs < SETTLING_MS) return undefined
  if (misses === undefined || misses.credential !== credential || now - misses.lastAt > GAP_MS)
    return { count: 1, firstAt: now, lastAt: now, besideSince: undefined, credential }
  const { firstAt, lastAt } = misses
  // A permission that went or came between two 404s leaves one of them without a witness.
  const isBeside = foundAt !== undefined && foundAt >= Math.min(lastAt, now - BESIDE_MS)
  const besideSince = isBeside ? (misses.besideSince ?? Math.max(foundAt, firstAt)) : undefined
  return { ...misses, count: misses.count + 1, lastAt: now, besideSince }
}

/** Whether the misses, and who else was seen meanwhile, prove that the pipe is gone. */
export function isBelieved(misses: Misses | undefined, witness: Witness): boolean {
  if (witness === 'nobody') return isConfirmed(misses, ALONE_MS)
  const besideSince = misses?.besideSince
  return isConfirmed(misses) && besideSince !== undefined && misses.lastAt - besideSince >= CONFIRMING_MS
}

/** The same of what we asked to delete: once that was answered, a 404 is what comes of it. */
export function isDeleted(
  misses: Misses | undefined,
  witness: Witness,
  removal: Pick<Removal, 'isSent' | 'isAnswered'> | undefined,
): boolean {
  return removal?.isSent === true && (removal.isAnswered === true || isBelieved(misses, witness))
}

/** Whether the misses alone are enough, and last long enough. */
export function isConfirmed(misses: Misses | undefined, forMs = CONFIRMING_MS): misses is Misses {
  return misses !== undefined && misses.count >= CONFIRMING_MISSES && misses.lastAt - misses.firstAt >= forMs
}

/** Whether so many of the pipes of a service, or of a credential, are not found that it cannot be deletions. */
export function isMassMissing(counts: MassMissing): boolean {
  return counts.missing >= MASS_LEAST && counts.missing >= counts.of * MASS_SHARE
}

/** Of how many pipes that were asked for so many were not found. */
export interface MassMissing {
  readonly missing: number
  readonly of: number
}

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
  const before = replaced?.id === undefined ? [] : [...(replaced.earlier ?? []), replaced.id]
  const earlier = before.length === 0 ? undefined : before.slice(0, EARLIER_KEPT)
  return { count: isCalm ? 1 : replaced.count + 1, at: now, id, earlier }
}

/** Whether a record had the pipe with this id, and another one took its place. */
export function wasGivenUp({ replaced }: Pick<LedgerRecord, 'replaced'>, id: string | undefined): boolean {
  return [replaced?.id, ...(replaced?.earlier ?? [])].some((each) => sameId(each, id))
}
