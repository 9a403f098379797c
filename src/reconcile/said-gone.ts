import type { Entry } from '../kinds/catalog.ts'
import { sameId } from '../lib/same-id.ts'

/** Whether `policy.recreate` says of a pipe that it is gone. */
export function saysGone(entry: Entry | undefined, pipeId: string): boolean {
  return sameId(entry?.manifest?.policy?.recreate, pipeId)
}
