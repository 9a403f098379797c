import type { Entry } from '../kinds/catalog.ts'

/** Whether a manifest says to leave its resource alone now. @param now ms since the epoch */
export function isLeftAlone(entry: Entry | undefined, now: number): boolean {
  const manifest = entry?.manifest
  if (manifest === undefined || !('policy' in manifest)) return false
  return manifest.policy?.suspend !== undefined && Date.parse(manifest.policy.suspend.until) > now
}
