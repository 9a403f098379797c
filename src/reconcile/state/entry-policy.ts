import type { Entry } from '../../contract/catalog.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { sameId } from '../../lib/same-id.ts'

export function saysDeleted(entry: Entry | undefined, pipeId: string): boolean {
  return sameId(entry?.manifest?.policy?.recreate, pipeId)
}

export function asSuspended(entry: Entry, { reason, until }: NonNullable<LedgerRecord['suspension']>): Entry {
  const { manifest } = entry
  if (manifest === undefined || isSuspendedLonger(entry, until)) return entry
  const why = `${reason ?? ''} (by a command, until the next revision)`
  const suspend = until === undefined ? undefined : { reason: why, until }
  return { ...entry, manifest: { ...manifest, policy: { ...manifest.policy, suspend } } }
}

export function isSuspendedLonger({ manifest }: Entry, until: string | undefined): boolean {
  const byManifest = manifest?.policy?.suspend?.until
  return byManifest !== undefined && until !== undefined && Date.parse(byManifest) >= Date.parse(until)
}

/** A suspension by command ends with the next revision, unless that is stale or the manifest seems gone. */
export function isSuspensionOver(
  store: {
    readonly revision: string
    readonly olderThan: string | undefined
    desiredState(key: LedgerRecord['key']): Entry['state'] | 'absent'
  },
  { key, suspension }: LedgerRecord,
): boolean {
  if (suspension === undefined || suspension.revision === store.revision) return false
  return store.olderThan === undefined && store.desiredState(key) !== 'missing'
}

/** @param now ms since the epoch */
export function isLeftAlone(entry: Entry | undefined, now: number): boolean {
  const suspend = entry?.manifest?.policy?.suspend
  return suspend !== undefined && Date.parse(suspend.until) > now
}
