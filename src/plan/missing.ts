import { backoffMs } from '../lib/retry.ts'
import { sameId } from '../lib/same-id.ts'
import { EARLIER_KEPT, type LedgerRecord, type Removal, type Replaced } from './record.ts'

const CONFIRMING_MISSES = 3
/** Least time from the first to the last 404. */
const CONFIRMING_MS = 60_000
/** The same without a witness. */
const ALONE_MS = 15 * 60_000
/** A 404 this soon after the pipe was recorded does not count. */
const SETTLING_MS = 60_000
const GAP_MS = 3 * 60_000
const BESIDE_MS = 45_000

const MASS_SHARE = 0.3
const MASS_LEAST = 3

/** 404s in a row that this process got with one credential. Times in monotonic ms. */
export interface Misses {
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  readonly besideSince: number | undefined
  readonly credential: string | undefined
}

/** Another credential or a long gap restarts the count. @param foundAt last time it found another pipe */
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
  // Each 404 needs a new witness, because a permission can be lost at any time.
  const isBeside = foundAt !== undefined && foundAt >= Math.min(lastAt, now - BESIDE_MS)
  const besideSince = isBeside ? (misses.besideSince ?? Math.max(foundAt, firstAt)) : undefined
  return { ...misses, count: misses.count + 1, lastAt: now, besideSince }
}

export function isMissingConfirmed(misses: Misses | undefined, isAlone: boolean): boolean {
  if (isAlone) return isConfirmed(misses, ALONE_MS)
  const besideSince = misses?.besideSince
  return isConfirmed(misses) && besideSince !== undefined && misses.lastAt - besideSince >= CONFIRMING_MS
}

export function isDeleted(
  misses: Misses | undefined,
  isAlone: boolean,
  removal: Pick<Removal, 'isSent' | 'isAnswered'> | undefined,
): boolean {
  if (removal?.isSent !== true) return false
  return (
    removal.isAnswered === true || isMissingConfirmed(misses, isAlone) || isMissingConfirmed(misses, true)
  )
}

export function isConfirmed(misses: Misses | undefined, forMs = CONFIRMING_MS): misses is Misses {
  return misses !== undefined && misses.count >= CONFIRMING_MISSES && misses.lastAt - misses.firstAt >= forMs
}

export function isMassMissing(counts: MassMissing): boolean {
  return counts.missing >= MASS_LEAST && counts.missing >= counts.of * MASS_SHARE
}

export interface MassMissing {
  readonly missing: number
  readonly of: number
}

const WAIT = { firstMs: 3_600_000, maxMs: 24 * 3_600_000 }

const CALM_MS = 7 * WAIT.maxMs

/** When a missing pipe can be replaced, ms since the epoch. Undefined: now. */
export function replaceableFrom(replaced: Replaced | undefined): number | undefined {
  if (replaced === undefined) return undefined
  return replaced.at + backoffMs(replaced.count, WAIT)
}

export function replacedAfter(replaced: Replaced | undefined, id: string | undefined, now: number): Replaced {
  const isCalm = replaced === undefined || now - replaced.at >= CALM_MS
  const before = replaced?.id === undefined ? [] : [...(replaced.earlier ?? []), replaced.id]
  // Keeps the first id, which policy.adopt can name, and the newest, which a Lock can name.
  const kept = before.length > EARLIER_KEPT ? before.toSpliced(1, before.length - EARLIER_KEPT) : before
  const earlier = kept.length === 0 ? undefined : kept
  return { count: isCalm ? 1 : replaced.count + 1, at: now, id, earlier }
}

export function wasGivenUp({ replaced }: Pick<LedgerRecord, 'replaced'>, id: string | undefined): boolean {
  return [replaced?.id, ...(replaced?.earlier ?? [])].some((each) => sameId(each, id))
}
