import type { Reason } from './reason.ts'

export const CONDITION_TYPES = ['Valid', 'Synced', 'Ready'] as const

export type ConditionType = (typeof CONDITION_TYPES)[number]

/** What we hold to be true of a resource, since when, and why. */
export interface Condition {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: Reason
  readonly message: string
  /** When `status` or `reason` last changed: ms since the epoch. */
  readonly since: number
}

export type Conditions = Readonly<Record<ConditionType, Condition>>

/** One word for a resource, worst first; the label values of `pipewright_resources{status}`. */
export const STATUSES = [
  'OutcomeUnknown',
  'Invalid',
  'Missing',
  'Failed',
  'Refused',
  'Drifted',
  'NotReady',
  'Orphaned',
  'Suspended',
  'Progressing',
  'Ready',
] as const

export type Status = (typeof STATUSES)[number]
