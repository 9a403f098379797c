import type { Entry } from '../../contract/catalog.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { sameId } from '../../lib/same-id.ts'

export function saysDeleted(entry: Entry | undefined, pipeId: string): boolean {
  return sameId(entry?.manifest?.policy?.recreate, pipeId)
}

/** As a person suspended or resumed it for this revision. */
export function asSuspended(entry: Entry, { revision, reason, until }: Suspension, now: string): Entry {
  const { manifest } = entry
  if (manifest === undefined || revision !== now) return entry
  const why = `${reason ?? ''} (by a command, until the next revision)`
  const suspend = until === undefined ? undefined : { reason: why, until }
  return { ...entry, manifest: { ...manifest, policy: { ...manifest.policy, suspend } } }
}

type Suspension = NonNullable<LedgerRecord['suspension']>

/** @param now ms since the epoch */
export function isLeftAlone(entry: Entry | undefined, now: number): boolean {
  const suspend = entry?.manifest?.policy?.suspend
  return suspend !== undefined && Date.parse(suspend.until) > now
}
