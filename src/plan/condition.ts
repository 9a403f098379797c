import type { Facts, Reason } from './reason.ts'

export const CONDITION_TYPES = ['Valid', 'Synced', 'Ready'] as const

export type ConditionType = (typeof CONDITION_TYPES)[number]

/** What we hold to be true of a resource, since when, and why. */
export interface Condition {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: Reason
  readonly message: string
  /** When `status` or `reason` last changed: ms since the epoch. */
  readonly since: number
  /** Those of the reason, of which the message is made. Undefined: it is well, or an earlier version recorded it. */
  readonly facts?: Facts
}

export type Conditions = Readonly<Record<ConditionType, Condition>>
