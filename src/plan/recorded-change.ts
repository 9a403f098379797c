import { z } from '../kinds/zod.ts'
import { A_TIME, INNER_REASON } from './reasons/row.ts'

/* All times are `steadyNow` times, which clock changes do not affect. */

/** An edit, journaled before it is sent. Kept until a read shows its effect. */
export const Change = z
  .strictObject({
    digest: z.string(),
    at: A_TIME,
    fields: z.array(z.string()).readonly(),
    isSent: z.literal(true).optional(),
    /** The first of two requests was sent: it removes the tables that change. */
    isHalfSent: z.literal(true).optional(),
    /** The service said that the change needs a stopped pipe. */
    waitsForRest: z.literal(true).optional(),
    /** Number of refusals after a stop. Each doubles the wait before the next attempt. */
    refusals: z.int().optional(),
    /** Why the change failed after a stop. Old records have a text instead. */
    refused: z.union([INNER_REASON, z.string().transform(() => ({ reason: 'Rejected' }))]).optional(),
  })
  .readonly()
export type Change = z.infer<typeof Change>

export const Correction = z
  .strictObject({ count: z.int().min(1), at: A_TIME, before: A_TIME.optional() })
  .readonly()
export type Correction = z.infer<typeof Correction>

/** The last start or stop. Kept until a read shows its effect. */
export const Command = z
  .strictObject({
    command: z.enum(['start', 'stop']),
    at: A_TIME,
    /** When the first command was sent, if it was repeated without effect. */
    since: A_TIME.optional(),
    /** The pipe was stopped for a change. Kept until a read shows that the pipe runs again. */
    isForChange: z.literal(true).optional(),
  })
  .readonly()
export type Command = z.infer<typeof Command>

/** A deletion that the manifest asks for. Until it is sent, the manifest can withdraw it. */
export const Removal = z
  .strictObject({
    since: A_TIME,
    /** Digest of the spec that replaces this one, or `absent` for a deletion. Old records lack it. */
    digest: z.string().optional(),
    /** Set before the deletion is sent. */
    isSent: z.literal(true).optional(),
    sentAt: A_TIME.optional(),
    /** Set after a success: the next 404 confirms the deletion. */
    isAnswered: z.literal(true).optional(),
    /** The delete limit blocked the deletion. So the ten minutes begin again, except if an operator allows it. */
    isLimited: z.literal(true).optional(),
  })
  .readonly()
export type Removal = z.infer<typeof Removal>
