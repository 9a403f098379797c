import type { LedgerRecord, ServiceIdentity } from './record.ts'

/** A create counts this long, from its latest possible send time. */
export const MADE_FOR_MS = 3_600_000
const EARLIER_KEPT = 25

export function limitGroupOf({
  organizationId,
  serviceId,
}: Pick<ServiceIdentity, 'organizationId' | 'serviceId'>): string {
  return `${organizationId}/${serviceId}`.toLowerCase()
}

/**
 * Send times (ms since the epoch, by the senders' clocks) of requests that created something, or might have;
 * the last is at the end. Excludes adoptions and creates that a person allowed.
 */
export function madeAt({ intent }: Pick<LedgerRecord, 'intent'>): readonly number[] {
  if (intent === undefined) return NOTHING_MADE
  const { earlier = NOTHING_MADE, state, openedAt, sendBy } = intent
  // Dismissed: a person settled it.
  if (intent.isAllowed === true || state === 'failed' || state === 'dismissed') return earlier
  // A wrong clock cannot shorten the limit.
  return [...earlier, Math.max(openedAt, sendBy)]
}

const NOTHING_MADE: readonly number[] = []

/** @param now of the slower clock */
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
 * Beyond the limit, all planned creates of the service are refused.
 * @param creates `wanted`: planned, without those that an operator allowed. `made`: within the hour or
 * without an outcome, oldest first, on the steady clock.
 * @param limit `--max-creates`, or Infinity after a person confirmed
 * @returns `passesAt`: on the steady clock; undefined if the age of earlier creates does not help
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

/** Per service: five deletions at a time, and a tenth of the recorded resources. One is always allowed. */
const MAX_DELETIONS = 5
const ONE_IN = 10

/** Names one deletion: allowing it allows no later one. */
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
