import type { Entry } from '../kinds/catalog.ts'

/** Whether a manifest says to leave its resource alone now. @param now ms since the epoch */
export function isLeftAlone(entry: Entry | undefined, now: number): boolean {
  const suspend = entry?.manifest?.policy?.suspend
  return suspend !== undefined && Date.parse(suspend.until) > now
}
