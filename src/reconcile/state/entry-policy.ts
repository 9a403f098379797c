import type { Entry } from '../../contract/catalog.ts'
import { sameId } from '../../lib/same-id.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { StateStore } from './store.ts'

/** Whether `policy.recreate` says of a pipe that it is gone. */
export function saysDeleted(entry: Entry | undefined, pipeId: string): boolean {
  return sameId(entry?.manifest?.policy?.recreate, pipeId)
}

/** Whether a manifest says to leave its resource alone now. @param now ms since the epoch */
export function isLeftAlone(entry: Entry | undefined, now: number): boolean {
  const suspend = entry?.manifest?.policy?.suspend
  return suspend !== undefined && Date.parse(suspend.until) > now
}

/** Whether a manifest was edited and lets what was created be deleted for that: what keeps a new one from being created keeps it. */
export function mayBeReplaced(
  store: Pick<StateStore, 'asked'>,
  entry: Entry | undefined,
  { remote, applied }: LedgerRecord,
): boolean {
  const manifest = entry?.manifest
  if (manifest?.policy?.onImmutable !== 'replace' || remote?.origin !== 'created') return false
  return store.asked(manifest)?.fingerprint.digest !== applied?.digest
}
