import type { Key } from '../kinds/key.ts'

/** Something that is shown is other than before. */
export interface Change {
  readonly type: (typeof CHANGE_TYPES)[number]
  /** Empty: not about single resources. */
  readonly keys: readonly Key[]
}

export const CHANGE_TYPES = ['resources', 'source', 'history'] as const
