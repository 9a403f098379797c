import { z } from '../kinds/zod.ts'
import { parseFacts, parseReason, type Facts, type Reason } from './reason.ts'

export const CONDITION_TYPES = ['Valid', 'Synced', 'Ready'] as const

export type ConditionType = (typeof CONDITION_TYPES)[number]

export const ConditionStatus = z.enum(['True', 'False', 'Unknown'])

/** What we hold to be true of a resource, since when, and why. */
export interface Condition {
  readonly status: z.infer<typeof ConditionStatus>
  readonly reason: Reason
  readonly message: string
  /** When `status` or `reason` last changed, or the state that nobody judged: ms since the epoch. */
  readonly since: number
  /** Those of the reason, of which the message is made. Undefined: it is well, or an earlier version recorded it. */
  readonly facts?: Facts
}

/** As the ledger holds it: a reason may have a name of before, and facts may be those of another version. */
const Condition = z
  .strictObject({
    status: ConditionStatus,
    reason: z
      .custom<Reason>((value) => parseReason(value) !== undefined)
      .transform((reason) => parseReason(reason) ?? reason),
    message: z.string(),
    since: z.number(),
    facts: z.unknown().optional(),
  })
  .transform(({ facts, ...condition }): Condition => {
    const own = parseFacts(condition.reason, facts)
    return own === undefined ? condition : { ...condition, facts: own }
  })

export const Conditions = z.strictObject({ Valid: Condition, Synced: Condition, Ready: Condition }).readonly()
export type Conditions = z.infer<typeof Conditions>
