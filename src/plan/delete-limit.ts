import type { LedgerRecord } from './record.ts'

/** Per service: five deletions at a time, and a tenth of the recorded resources. One is always allowed. */
const MOST = 5
const ONE_IN = 10

/** Excludes later deletions and creates. */
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
  const limit = Math.max(1, Math.min(MOST, Math.floor(of / ONE_IN)))
  return wanted > limit ? { wanted, of, limit } : undefined
}
