import { knownKey } from '../kinds/lookup.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Key } from '../kinds/key.ts'
import { z } from '../kinds/zod.ts'

const key = z.custom<Key>((value) => typeof value === 'string' && knownKey(value) !== undefined)
const pipeId = z.string()

export const REASON_LENGTH = 500

/** Body of `POST /-/operate`: a command that the leader carries out. */
export const OperatorCommand = z.discriminatedUnion('command', [
  z.strictObject({ command: z.literal('adopt'), key, pipeId }),
  /** An operator says that the create with an unknown outcome made this pipe. */
  z.strictObject({ command: z.literal('resolve'), key, pipeId }),
  /** An operator says that the create made no pipe. `force`: even if its request might still arrive. */
  z.strictObject({ command: z.literal('retry'), key, force: z.boolean().default(false) }),
  z.strictObject({ command: z.literal('recreate'), key }),
  z.strictObject({ command: z.literal('forget'), key }),
  /** The suspension ends at `until` or at the next revision. */
  z.strictObject({
    command: z.literal('suspend'),
    key,
    reason: z.string().min(1).max(REASON_LENGTH),
    until: z.iso.datetime({ offset: true }),
  }),
  /** Ends the suspension. At the next revision, the manifest decides again. */
  z.strictObject({ command: z.literal('resume'), key }),
])
export type OperatorCommand = z.infer<typeof OperatorCommand>

export type OperatorResult =
  | {
      readonly result: 'done'
      readonly message: string
      readonly pipeId: string | undefined
      readonly intentId: string | undefined
      readonly differences: readonly Difference[]
    }
  | {
      readonly result: 'refused'
      readonly message: string
    }

/** Body of `POST /-/allow`. Strict, because a misspelt `service` would allow all services. */
export const Allowance = z.strictObject({
  service: z.string().min(1).optional(),
  /** The number of waiting creates or deletions that the person saw. If more are waiting, none is allowed. */
  count: z.int().min(0).optional(),
  dryRun: z.boolean().default(false),
  deletions: z.boolean().default(false),
})
export type Allowance = z.infer<typeof Allowance>

export interface AllowedReply {
  /** In a dry run: the keys that would be allowed. */
  readonly allowed: readonly Key[]
  readonly isWithoutService?: true
}

/** `blocked`: number of waiting creates or deletions. None was allowed, because the person confirmed a lower number. */
export type Allowed = AllowedReply | { readonly blocked: number }
