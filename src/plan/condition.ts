import { z } from '../kinds/zod.ts'
import { REASONS, type Reason } from './reason.ts'

export const CONDITION_TYPES = ['Valid', 'Synced', 'Ready'] as const

export type ConditionType = (typeof CONDITION_TYPES)[number]

export const ConditionStatus = z.enum(['True', 'False', 'Unknown'])

/** What we hold to be true of a resource, since when, and why. */
const Condition = z
  .strictObject({
    status: ConditionStatus,
    reason: z.custom<Reason>((value) => typeof value === 'string' && Object.hasOwn(REASONS, value)),
    message: z.string(),
    /** When `status` or `reason` last changed: ms since the epoch. */
    since: z.number(),
  })
  .readonly()
export type Condition = z.infer<typeof Condition>

export const Conditions = z.strictObject({ Valid: Condition, Synced: Condition, Ready: Condition }).readonly()
export type Conditions = z.infer<typeof Conditions>

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
