import type { LedgerRecord, ServiceIdentity } from './record.ts'

/*
 * The create limit (design §5): what counts against it, and when it is reached. It counts for each service, and a service is what
 * the platform knows it by, not what manifests call it.
 */

/** For so long a creation counts from when its request could last have gone out: ms. */
export const MADE_FOR_MS = 3_600_000
/** Creations of one key that its record keeps, beside the last. Nothing but a person's word makes more of them in an hour. */
const EARLIER_KEPT = 25

/** Equal for equal services, whatever their manifests are called and however these write the ids. */
export function limitGroupOf({
  organizationId,
  serviceId,
}: Pick<ServiceIdentity, 'organizationId' | 'serviceId'>): string {
  return `${organizationId}/${serviceId}`.toLowerCase()
}

/**
 * When requests of a key could last have gone out that made something, or may have, and that no person allowed. By the clocks of
 * whoever sent them, ms since the epoch; the last one at the end. An adoption is none of them.
 */
export function madeAt({ intent }: Pick<LedgerRecord, 'intent'>): readonly number[] {
  if (intent === undefined) return NOTHING_MADE
  const { earlier = NOTHING_MADE, state, openedAt, sendBy } = intent
  // That a dismissed one created nothing is a person's word.
  if (intent.isAllowed === true || state === 'failed' || state === 'dismissed') return earlier
  // Two clocks: the later one is believed, so that none that was wrong lets more pass.
  return [...earlier, Math.max(openedAt, sendBy)]
}

const NOTHING_MADE: readonly number[] = []

/** Those that the record of a new attempt keeps: it takes the place of the last one. @param now by the clock that says less */
export function earlierOf(record: LedgerRecord, now: number): readonly number[] | undefined {
  const kept = madeAt(record).filter((at) => at > now - MADE_FOR_MS)
  return kept.length === 0 ? undefined : kept.slice(-EARLIER_KEPT)
}

/** Whether a person let this creation pass, as the manifest still says it. @param steadyNow as in the store */
export function isAllowed(
  record: LedgerRecord | undefined,
  digest: string | undefined,
  steadyNow: number,
): boolean {
  const allowed = record?.allowed
  return allowed !== undefined && allowed.digest === digest && steadyNow < allowed.until
}

/** What counts in a service. */
export interface Creations {
  /** Wanted now, but for those that a person allowed. */
  readonly wanted: number
  /** Made within the hour, oldest first, or begun and without an outcome. Times are those of the steady clock. */
  readonly made: readonly { readonly at: number }[]
}

/** More creations than the limit lets pass. */
export interface CreateLimitReached {
  readonly wanted: number
  /** Within the last hour. */
  readonly made: number
  readonly limit: number
  /** When enough of those that were made are an hour old, on the steady clock; undefined: it takes more than that. */
  readonly passesAt: number | undefined
}

/**
 * Whether so many creations are wanted in a service at once, or were made there within the hour, that all are refused that are wanted.
 * @param limit `--max-creates`, or Infinity once a person said yes
 */
export function createLimitOf({ wanted, made }: Creations, limit: number): CreateLimitReached | undefined {
  const tooMany = wanted + made.length - limit
  if (wanted === 0 || tooMany <= 0) return undefined
  const last = wanted > limit ? undefined : made[tooMany - 1]
  return { wanted, made: made.length, limit, passesAt: last && last.at + MADE_FOR_MS }
}
