import type { Key } from '../kinds/key.ts'
import type { ActionType } from '../plan/action.ts'
import type { ConditionType } from '../plan/condition.ts'
import type { Reason } from '../plan/reason.ts'

interface Common {
  readonly key: Key
  /** ms since the epoch. */
  readonly at: number
  readonly revision: string
  readonly requestId: string | undefined
  readonly message: string
}

/** One line of the story: an action that touched the platform or the ledger's idea of it, or a condition that changed. */
export type HistoryEntry = Common &
  (
    | {
        readonly type: 'action'
        readonly action: ActionType | 'intent' | 'move' | 'forget'
        readonly reason: Reason
        readonly result: 'started' | 'done' | 'failed' | 'unknown'
        readonly intentId: string | undefined
      }
    | {
        readonly type: 'condition'
        readonly condition: ConditionType
        readonly status: 'True' | 'False' | 'Unknown'
        readonly reason: Reason
      }
  )
