import type { Profile } from '../../kinds/profile.ts'
import type { Limits } from '../yaml/limits.ts'

/** The schemas that documents are checked against, and the bounds of one reading. */
export interface ParseOptions {
  readonly profile: Profile
  readonly limits: Limits
  /** Shared by all files of one reading. */
  readonly room: FindingRoom
}

/** How many findings can still be worded. Beyond it, a document says only that it has errors. */
export interface FindingRoom {
  left: number
}

const MAX_FINDINGS_OF_READING = 5_000

export function createFindingRoom(): FindingRoom {
  return { left: MAX_FINDINGS_OF_READING }
}
