import { z } from '../kinds/zod.ts'
import { isObject } from '../lib/json.ts'
import { parseFacts, parseReason, type Facts, type Reason } from './reason.ts'

export const CONDITION_TYPES = ['Valid', 'Synced', 'Ready'] as const

export type ConditionType = (typeof CONDITION_TYPES)[number]

export const ConditionStatus = z.enum(['True', 'False', 'Unknown'])

export interface Condition {
  readonly status: z.infer<typeof ConditionStatus>
  readonly reason: Reason
  readonly message: string
  /** Last change of `status`, `reason` or the unjudged state, ms since the epoch. */
  readonly since: number
  /** Facts behind the message. Undefined for a healthy resource, and in old records. */
  readonly facts?: Facts
}

/** Accepts former reasons and facts of other versions. */
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

/** Drops `said`, which can have kilobytes, if the message repeats it. */
export function storedCondition(condition: Condition): unknown {
  const { facts, message } = condition
  if (facts === undefined || !('said' in facts) || facts.said !== message) return condition
  const { said: _, ...others } = facts
  return { ...condition, facts: others }
}

export const Conditions = z.strictObject({ Valid: Condition, Synced: Condition, Ready: Condition }).readonly()
export type Conditions = z.infer<typeof Conditions>
