import { z } from '../zod.ts'
import { API_VERSION, Metadata } from '../manifest.ts'
import { KINDS } from '../registry.ts'

export const MOST_LOCKED = 10_000

export const LockedId = z.guid()

const LOCKABLE = KINDS.filter(({ lifecycle }) => lifecycle === 'create-once').map(({ name }) => name)

const Key = z
  .string()
  .regex(
    new RegExp(`^(?:${LOCKABLE.join('|')})/.`),
    `must be ${LOCKABLE.map((kind) => `${kind}/name`).join(' or ')}`,
  )

export const LOCK = {
  name: 'Lock',
  description:
    'Lists the pipe id of each key. If the ledger is lost, Pipewright adopts these pipes and creates none twice.',
  schema: z.strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal('Lock'),
    metadata: Metadata,
    spec: z.strictObject({
      pipes: z
        .record(Key, LockedId)
        .refine(
          (pipes) => Object.keys(pipes).length <= MOST_LOCKED,
          `must have at most ${MOST_LOCKED} entries`,
        )
        .describe('Key of a pipe, such as `Pipe/orders`, and the id of that pipe.')
        .meta({ examples: [{ 'Pipe/orders': '9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d' }] }),
    }),
  }),
} as const
export type LockManifest = z.infer<typeof LOCK.schema>
