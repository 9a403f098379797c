import { z } from '../kinds/zod.ts'
import { isObject } from '../lib/json.ts'
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
    const own =
      parseFacts(condition.reason, facts) ??
      parseFacts(condition.reason, isObject(facts) ? { ...facts, said: condition.message } : undefined)
    return own === undefined ? condition : { ...condition, facts: own }
  })

/**
 * As it is stored: what somebody said, and is the whole message, stands in it once. Such a text may have kilobytes, and each
 * record is of a few.
 */
export function storedCondition(condition: Condition): unknown {
  const { facts, message } = condition
  if (facts === undefined || !('said' in facts) || facts.said !== message) return condition
  const { said: _, ...others } = facts
  return { ...condition, facts: others }
}

export const Conditions = z.strictObject({ Valid: Condition, Synced: Condition, Ready: Condition }).readonly()
export type Conditions = z.infer<typeof Conditions>
