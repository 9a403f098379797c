import type { Way } from '../kinds/changes.ts'
import type { Difference } from '../kinds/difference.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Because } from './reason.ts'

export const ACTION_TYPES = [
  'create',
  'adopt',
  'upsert',
  'update',
  'delete',
  'observe',
  'report',
  'hold',
  'refuse',
] as const

export type ActionType = (typeof ACTION_TYPES)[number]

export const CHANGES: ReadonlySet<ActionType> = new Set(['create', 'adopt', 'upsert', 'update', 'delete'])

export interface ChangeStep {
  readonly way: Way | 'state'
  /** Holds secretRefs, not secret values. */
  readonly body: JsonObject
}

export type StopFor = 'rest' | 'change'

export function isAskedAgain({ reason, facts }: Because): boolean {
  return reason === 'Deleting' && facts.removal.is === 'going'
}

export function isResync({ reason, facts }: Action): boolean {
  return reason === 'Changing' && facts.why === 'interval'
}

export type Action = Because &
  (
    | { readonly type: 'create' }
    | { readonly type: 'adopt'; readonly reason: 'Adopt' }
    | { readonly type: 'upsert'; readonly takesAway: readonly string[] }
    | {
        readonly type: 'update'
        readonly steps: readonly ChangeStep[]
        readonly isWhole: boolean
        readonly stopFor: StopFor | undefined
        /** Drifted fields that this change corrects. `start` and `stop` mean the run state. */
        readonly corrects: readonly string[]
      }
    | { readonly type: 'delete' }
    | { readonly type: 'observe' }
    | { readonly type: 'report'; readonly differences: readonly Difference[] }
    | {
        readonly type: 'hold'
        /** Time of the next observation, ms since the epoch. */ readonly until?: number | undefined
      }
    | { readonly type: 'refuse' }
  )
