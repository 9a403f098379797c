import { z } from '../zod.ts'
import { API_VERSION, Metadata } from '../metadata.ts'

/** A manifest that says which pipe id belongs to which key, so that a lost ledger rebuilds itself by adopting. */
export const LockManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Lock'),
  metadata: Metadata,
  spec: z.strictObject({
    pipes: z
      .record(z.string().regex(/^[A-Z][A-Za-z]*\/./, 'must be Kind/name, such as Pipe/orders'), z.guid())
      .describe('Key of a pipe, such as `Pipe/orders`, and the id of that pipe.'),
  }),
})
export type LockManifest = z.infer<typeof LockManifest>

/** A kind of manifest that is no resource: it has no key, and nothing on the platform. */
export const LOCK = {
  name: 'Lock',
  description: 'Which pipe id belongs to which key, so that a lost ledger rebuilds itself by adopting.',
  schema: LockManifest,
} as const
