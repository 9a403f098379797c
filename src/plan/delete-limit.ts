import type { LedgerRecord } from './record.ts'

/** So many of a service may be in deletion at once, and no more than one in so many of those that are recorded there; one always may. */
const MOST = 5
const ONE_IN = 10

/**
 * What a person's word to delete is about, as the record's `allowed` has it: this deletion, and neither a later one nor a creation.
 * @param manifest the digest of its manifest
 */
export function deletionDigest(manifest: string, { removal }: Pick<LedgerRecord, 'removal'>): string {
  return `delete ${manifest} ${removal?.since ?? ''}`
}

/** More deletions than the limit lets pass. */
export interface DeleteLimitReached {
  readonly wanted: number
  readonly of: number
  readonly limit: number
}

/** Whether so many are to be deleted in a service at once that none is. */
export function deleteLimitOf({
  wanted,
  of,
}: Pick<DeleteLimitReached, 'wanted' | 'of'>): DeleteLimitReached | undefined {
  const limit = Math.max(1, Math.min(MOST, Math.floor(of / ONE_IN)))
  return wanted > limit ? { wanted, of, limit } : undefined
}
