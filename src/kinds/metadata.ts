import { z } from './zod.ts'

export const API_VERSION = 'pipewright/v1'

/** A name that is safe in a key, a URL, a label and a file name. */
export const ResourceName = z
  .string()
  .regex(
    /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
    'must be lower-case letters, digits, "-" and ".", and begin and end with a letter or digit',
  )
  .max(253)

/** Who a manifest is about. */
export const Metadata = z.strictObject({
  name: ResourceName.describe('Unique per kind over the whole directory.'),
  labels: z
    .record(z.string().min(1).max(63), z.string().max(63))
    .optional()
    .describe('Free labels, such as the team, for filters and notifications.'),
})
export type Metadata = z.infer<typeof Metadata>
