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

/** A request that changes something that exists. */
export interface Step {
  readonly way: Way | 'state'
  /** With references where secrets belong. */
  readonly body: JsonObject
}

/** What a command to stop is for: to leave it stopped, or to change it and start it again. */
export type StopFor = 'rest' | 'change'

/** What should happen next to one key, and why. A plan is a list of these, and a value. */
export type Action = Because &
  (
    | { readonly type: 'create' }
    | { readonly type: 'adopt'; readonly pipeId: string }
    | { readonly type: 'upsert'; readonly takesAway: readonly string[] }
    | {
        readonly type: 'update'
        /** In the order in which they are sent. */
        readonly steps: readonly Step[]
        /** Whether all that was asked for is sent by them. */
        readonly isWhole: boolean
        readonly stopFor: StopFor | undefined
        /** Of what is sent, drift; `start` and `stop` are commands. */
        readonly corrects: readonly string[]
      }
    | { readonly type: 'delete' }
    | { readonly type: 'observe' }
    | { readonly type: 'report'; readonly differences: readonly Difference[] }
    | {
        readonly type: 'hold'
        /** Observation again then: ms since the epoch. */ readonly until: number | undefined
      }
    | { readonly type: 'refuse' }
  )
