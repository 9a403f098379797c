import type { Difference } from '../kinds/difference.ts'
import type { Because } from './reason.ts'

export const ACTION_TYPES = ['create', 'adopt', 'upsert', 'observe', 'report', 'hold', 'refuse'] as const

export type ActionType = (typeof ACTION_TYPES)[number]

/** What should happen next to one key, and why. A plan is a list of these, and a value. */
export type Action = Because &
  (
    | { readonly type: 'create' }
    | { readonly type: 'adopt'; readonly pipeId: string }
    | { readonly type: 'upsert'; readonly takesAway: readonly string[] }
    | { readonly type: 'observe' }
    | { readonly type: 'report'; readonly differences: readonly Difference[] }
    | {
        readonly type: 'hold'
        /** Observation again then: ms since the epoch. */ readonly until: number | undefined
      }
    | { readonly type: 'refuse' }
  )
