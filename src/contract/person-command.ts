import { knownKey } from '../kinds/lookup.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Key } from '../kinds/key.ts'
import { z } from '../kinds/zod.ts'

const key = z.custom<Key>((value) => typeof value === 'string' && knownKey(value) !== undefined)
const pipeId = z.string()

export const REASON_LENGTH = 500

/** A person's command for one resource, carried out by the owner of the ledger: the body of `POST /-/operate`. */
export const OperatorCommand = z.discriminatedUnion('command', [
  z.strictObject({ command: z.literal('adopt'), key, pipeId }),
  /** The create with an unknown outcome made this pipe. */
  z.strictObject({ command: z.literal('resolve'), key, pipeId }),
  /** It made none. `force`: without waiting until its request cannot arrive any more. */
  z.strictObject({ command: z.literal('retry'), key, force: z.boolean().default(false) }),
  /** The pipe is gone. */
  z.strictObject({ command: z.literal('recreate'), key }),
  z.strictObject({ command: z.literal('forget'), key }),
  /** Until then or until the next revision. */
  z.strictObject({
    command: z.literal('suspend'),
    key,
    reason: z.string().min(1).max(REASON_LENGTH),
    until: z.iso.datetime({ offset: true }),
  }),
  /** Until the next revision. */
  z.strictObject({ command: z.literal('resume'), key }),
])
export type OperatorCommand = z.infer<typeof OperatorCommand>

export type OperatorResult =
  | {
      readonly result: 'done'
      /** Result and next step. */
      readonly message: string
      readonly pipeId: string | undefined
      readonly intentId: string | undefined
      readonly differences: readonly Difference[]
    }
  | {
      readonly result: 'refused'
      /** Reason and alternative. The ledger is unchanged. */
      readonly message: string
    }

/** Body of `POST /-/allow`. A misspelt `service` must not allow all services. */
export const Allowance = z.strictObject({
  service: z.string().min(1).optional(),
  /** Seen by the person. Absent: no upper limit. */
  count: z.int().min(0).optional(),
  dryRun: z.boolean().default(false),
  deletions: z.boolean().default(false),
})
export type Allowance = z.infer<typeof Allowance>

export interface AllowedReply {
  /** In a dry run: those that would be allowed. */
  readonly allowed: readonly Key[]
  /** No manifest or record names the asked service. */
  readonly isWithoutService?: true
}

/** `blocked`: more than the person saw. No action was allowed. */
export type Allowed = AllowedReply | { readonly blocked: number }
