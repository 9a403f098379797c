import { z } from '../kinds/zod.ts'
import { parseFacts, parseReason, type Explanation, type Reason } from './reason.ts'

export const CONDITION_TYPES = ['Valid', 'Synced', 'Ready'] as const

export type ConditionType = (typeof CONDITION_TYPES)[number]

export const ConditionStatus = z.enum(['True', 'False', 'Unknown'])

export interface Condition extends Explanation {
  readonly status: z.infer<typeof ConditionStatus>
  /** ms since the epoch: last change of `status` or `reason`, and for `NotJudged` also of the pipe's state. */
  readonly since: number
}

/** Renames reasons of older versions, and drops facts that this version cannot read. */
const Condition = z
  .strictObject({
    status: ConditionStatus,
    reason: z
      .custom<Reason>((value) => parseReason(value) !== undefined)
      .transform((reason) => parseReason(reason) ?? reason),
    since: z.number(),
    facts: z.unknown().optional(),
    message: z.unknown().optional(),
  })
  .transform((stored): Condition => {
    const { facts, message: _, ...condition } = stored
    const known = parseFacts(condition.reason, facts)
    return known === undefined ? condition : { ...condition, facts: known }
  })

export const Conditions = z.strictObject({ Valid: Condition, Synced: Condition, Ready: Condition }).readonly()
export type Conditions = z.infer<typeof Conditions>
