import { z } from '../zod.ts'
import { API_VERSION, Metadata } from '../manifest.ts'

/** A kind of manifest that is no resource: it has no key, and nothing on the platform. */
export const LOCK = {
  name: 'Lock',
  description: 'Which pipe id belongs to which key, so that a lost ledger rebuilds itself by adopting.',
} as const

/** Entries of one Lock; there may be several Locks. */
export const MOST_LOCKED = 10_000

/** An id that a Lock can hold. */
export const LockedId = z.guid()

/**
 * A manifest that says which id belongs to which key, so that a lost ledger rebuilds itself by adopting.
 * @param kinds the names of the kinds that are created once
 */
export function lockSchema(kinds: readonly string[]) {
  const key = z
    .string()
    .regex(
      new RegExp(`^(?:${kinds.join('|')})/.`),
      `must be ${kinds.map((kind) => `${kind}/name`).join(' or ')}`,
    )
  return z.strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal(LOCK.name),
    metadata: Metadata,
    spec: z.strictObject({
      pipes: z
        .record(key, LockedId)
        .refine(
          (pipes) => Object.keys(pipes).length <= MOST_LOCKED,
          `must have at most ${MOST_LOCKED} entries`,
        )
        .describe('Key of a pipe, such as `Pipe/orders`, and the id of that pipe.')
        .meta({ examples: [{ 'Pipe/orders': '9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d' }] }),
    }),
  })
}
export type LockManifest = z.infer<ReturnType<typeof lockSchema>>
