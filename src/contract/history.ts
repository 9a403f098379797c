import { z } from '../kinds/zod.ts'
import { ACTION_TYPES } from '../plan/action.ts'
import { CONDITION_TYPES, ConditionStatus } from '../plan/condition.ts'
import { RecordedKey, RecordedReason } from '../plan/record.ts'

const common = {
  key: RecordedKey,
  /** ms since the epoch. */
  at: z.number(),
  /** In force at that time. */
  revision: z.string(),
  /** At which the manifest came to say what it said. Undefined: an earlier version did not keep it, or there was none. */
  manifestRevision: z.string().optional(),
  requestId: z.string().optional(),
  message: z.string(),
}

/** One line of the story: an action that touched the platform or the ledger's idea of it, or a condition that changed. */
export const HistoryEntry = z.discriminatedUnion('type', [
  z
    .strictObject({
      ...common,
      type: z.literal('action'),
      action: z.enum([...ACTION_TYPES, 'intent', 'move', 'forget', 'allow']),
      reason: RecordedReason,
      result: z.enum(['started', 'done', 'failed', 'unknown']),
      intentId: z.string().optional(),
    })
    .readonly(),
  z
    .strictObject({
      ...common,
      type: z.literal('condition'),
      condition: z.enum(CONDITION_TYPES),
      status: ConditionStatus,
      reason: RecordedReason,
    })
    .readonly(),
])
export type HistoryEntry = z.infer<typeof HistoryEntry>
