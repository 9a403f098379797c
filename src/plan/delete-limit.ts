/** So many of a service may be in deletion at once, and no more than one in so many of those that are recorded there; one always may. */
const MOST = 5
const ONE_IN = 10

/** What a person's word lets pass where there is no manifest: it counts for nothing that one says later. */
export const REMOVED_DIGEST = 'removed'

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
