import { z } from '../kinds/zod.ts'

/* What is under way with something that exists, as its record says it. */

/** ms since the epoch. */
export const Time = z.number()

/** The last change of what exists, written down before it is sent; there until a reading finds that it took effect. */
export const Change = z
  .strictObject({
    /** What it depended on: an edited manifest or a rotated secret is another change. */
    digest: z.string(),
    /** On the steady clock. */
    at: Time,
    /** The fields that it was to change. */
    fields: z.array(z.string()).readonly(),
    /** All of it was taken. Absent: it was about to be sent. */
    isSent: z.literal(true).optional(),
    /** The service takes it only from what rests, and to stop it for that was put off. */
    waitsForRest: z.literal(true).optional(),
    /** How often it was refused after it was stopped for it: each time it is longer until the next. */
    refusals: z.int().optional(),
    /** Why it was refused, in words, where it is not tried again soon. */
    refused: z.string().optional(),
  })
  .readonly()
export type Change = z.infer<typeof Change>

/** Corrections of one field, or commands to start or to stop, in a row. */
export const Correction = z
  .strictObject({
    count: z.int().min(1),
    /** The last one; on the steady clock. */
    at: Time,
    /** The one before it; on the steady clock. */
    before: Time.optional(),
  })
  .readonly()
export type Correction = z.infer<typeof Correction>

/** The last command to start or to stop; there until a reading finds that it took effect. */
export const Command = z
  .strictObject({
    command: z.enum(['start', 'stop']),
    /** On the steady clock. */
    at: Time,
    /** When it was given first, where nothing came of it and it was given again; on the steady clock. */
    since: Time.optional(),
    /** It was stopped so that it could be changed, and is to be started again; also while it is told to start, until it is seen to run. */
    isForChange: z.literal(true).optional(),
  })
  .readonly()
export type Command = z.infer<typeof Command>

/** Its manifest asks to delete it. A manifest that goes away, or is edited back, ends this until the request was sent. */
export const Removal = z
  .strictObject({
    /** Since when that is known; on the steady clock. */
    since: Time,
    /** `absent`, or the digest of the spec that is to replace it. Undefined: an earlier version sent the request for a removed manifest. */
    digest: z.string().optional(),
    /** A request to delete it was about to be sent. */
    isSent: z.literal(true).optional(),
    /** When it was; on the steady clock. */
    sentAt: Time.optional(),
    /** The service took it, or says that there is none: the next 404 is the end. */
    isAnswered: z.literal(true).optional(),
    /** The limit on deletions stood in the way at the last look. Once it does not, the grace begins anew, unless an operator allowed it. */
    isLimited: z.literal(true).optional(),
  })
  .readonly()
export type Removal = z.infer<typeof Removal>
