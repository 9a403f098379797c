import type { LedgerRecord } from './record.ts'

/** A create counts for the create limit until this long after its latest possible send time. */
export const MADE_FOR_MS = 3_600_000
const EARLIER_KEPT = 25

/** Send times of creates that might have worked, oldest first: ms since the epoch, by the senders' clocks. */
export function madeAt({ intent }: Pick<LedgerRecord, 'intent'>): readonly number[] {
  if (intent === undefined) return NOTHING_MADE
  const { earlier = NOTHING_MADE, state, openedAt, sendBy } = intent
  if (intent.isAllowed === true || state === 'failed' || state === 'dismissed') return earlier
  // The later time, because a wrong clock must not shorten the limit.
  return [...earlier, Math.max(openedAt, sendBy)]
}

const NOTHING_MADE: readonly number[] = []

export function earlierOf(record: LedgerRecord, now: number): readonly number[] | undefined {
  const kept = madeAt(record).filter((at) => at > now - MADE_FOR_MS)
  return kept.length === 0 ? undefined : kept.slice(-EARLIER_KEPT)
}

export function isAllowed(
  record: LedgerRecord | undefined,
  digest: string | undefined,
  steadyNow: number,
): boolean {
  const allowed = record?.allowed
  return allowed !== undefined && allowed.digest === digest && steadyNow < allowed.until
}

/**
 * If a service exceeds the limit, all its planned creates are refused.
 * @param creates `wanted`: planned creates that no operator allowed. `made`: send times of the last hour, oldest
 * first.
 * @param limit `--max-creates`. Infinity: no limit
 * @returns undefined within the limit. `passesAt`: the `steadyNow` when enough earlier creates no longer count
 */
export function createLimitOf(
  { wanted, made }: { readonly wanted: number; readonly made: readonly number[] },
  limit: number,
) {
  const tooMany = wanted + made.length - limit
  if (wanted === 0 || tooMany <= 0) return undefined
  const last = wanted > limit ? undefined : made[tooMany - 1]
  return { wanted, made: made.length, limit, passesAt: last && last + MADE_FOR_MS }
}

/** Deletions that can be pending in a service: a tenth of its recorded resources, at least one, at most five. */
const MAX_DELETIONS = 5
const ONE_IN = 10

/** With the start of the wait: a permission must not allow a later deletion. */
export function deletionDigest(manifest: string, { removal }: Pick<LedgerRecord, 'removal'>): string {
  return `delete ${manifest} ${removal?.since ?? ''}`
}

interface DeleteLimitReached {
  readonly wanted: number
  readonly of: number
  readonly limit: number
}

export function deleteLimitOf({
  wanted,
  of,
}: Pick<DeleteLimitReached, 'wanted' | 'of'>): DeleteLimitReached | undefined {
  const limit = Math.max(1, Math.min(MAX_DELETIONS, Math.floor(of / ONE_IN)))
  return wanted > limit ? { wanted, of, limit } : undefined
}
