import type { Entry } from '../../contract/catalog.ts'
import { sameId } from '../../lib/same-id.ts'

export function saysDeleted(entry: Entry | undefined, pipeId: string): boolean {
  return sameId(entry?.manifest?.policy?.recreate, pipeId)
}

/** @param now ms since the epoch */
export function isLeftAlone(entry: Entry | undefined, now: number): boolean {
  const suspend = entry?.manifest?.policy?.suspend
  return suspend !== undefined && Date.parse(suspend.until) > now
}
