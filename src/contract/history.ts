import { z } from '../kinds/zod.ts'
import { ACTION_TYPES } from '../plan/action.ts'
import { CONDITION_TYPES, ConditionStatus } from '../plan/condition.ts'
import { innerCause } from '../plan/reason.ts'
import { INNER_REASON } from '../plan/reasons/row.ts'
import { RecordedKey, RecordedReason } from '../plan/record.ts'

const common = {
  key: RecordedKey,
  /** ms since the epoch. */
  at: z.number(),
  revision: z.string(),
  /** The revision at which this manifest was first read. Absent in old entries or without a manifest. */
  manifestRevision: z.string().optional(),
  requestId: z.string().optional(),
  reason: RecordedReason,
  because: INNER_REASON.optional(),
  by: z.literal('operator').optional(),
  /** Earlier versions stored the text instead of `because`. */
  message: z.string().optional(),
}

const StoredEntry = z.discriminatedUnion('type', [
  z
    .strictObject({
      ...common,
      type: z.literal('action'),
      action: z.enum([...ACTION_TYPES, 'intent', 'move', 'forget', 'allow']),
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
    })
    .readonly(),
])
export type NewEntry = z.infer<typeof StoredEntry>

export const HistoryEntry = StoredEntry.transform(({ because, by, message, ...entry }) => {
  const cause = innerCause(because ?? { reason: entry.reason }, entry.key)
  return { ...entry, message: message ?? (by === undefined ? cause : `By operator: ${cause}`) }
})
export type HistoryEntry = z.infer<typeof HistoryEntry>
