import { z } from '../zod.ts'
import { API_VERSION, Metadata } from '../manifest.ts'

export const LOCK = {
  name: 'Lock',
  description:
    'Lists the pipe id of each key. If the ledger is lost, Pipewright adopts these pipes and creates none twice.',
} as const

export const MOST_LOCKED = 10_000

export const LockedId = z.guid()

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
