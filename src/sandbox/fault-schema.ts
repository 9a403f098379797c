import { z } from '../kinds/zod.ts'
import { readSandboxFile } from './sandbox-file.ts'
import { OPERATIONS } from './request-schema.ts'

const Status = z.int().min(200).max(599)
const WaitSeconds = z.number().nonnegative().max(86_400)

/** "Done": the platform did the work before the fault. */
export const Fault = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('latency'), ms: z.int().min(0).max(600_000) }).describe('Done, but late.'),
  z
    .strictObject({
      type: z.literal('rate-limit'),
      seconds: WaitSeconds,
      header: z.enum([
        'retry-after',
        'retry-after-date',
        'x-ratelimit-reset',
        'x-ratelimit-reset-in',
        'none',
      ]),
    })
    .describe('429, not done. `x-ratelimit-reset` is Unix time in seconds, `…-in` seconds from now.'),
  z
    .strictObject({
      type: z.literal('status'),
      status: Status,
      error: z.string().min(1).optional().describe('The text of the error.'),
    })
    .describe(
      'Any status with an error body, not done; `error` is its text, such as `FAILED_DEPENDENCY: it is idle`.',
    ),
  z
    .strictObject({ type: z.literal('not-applied') })
    .describe('Answered as if it was done, and not done: a read afterwards shows the earlier state.'),
  z.strictObject({ type: z.literal('reset') }).describe('The connection is reset (RST), not done.'),
  z.strictObject({ type: z.literal('cut-before') }).describe('The connection is closed, not done.'),
  z
    .strictObject({ type: z.literal('cut-after') })
    .describe('Done, and the connection closed without a word.'),
  z.strictObject({ type: z.literal('half-body') }).describe('Done, and the connection closed in mid-reply.'),
  z.strictObject({ type: z.literal('no-id') }).describe('Done, and a 200 whose resource has no id.'),
  z
    .strictObject({ type: z.literal('html'), status: Status.default(502) })
    .describe('A page of a proxy, not done.'),
  z
    .strictObject({ type: z.literal('error-after'), status: Status.default(500) })
    .describe('Done, but answered with an error.'),
  z
    .strictObject({ type: z.literal('hang'), done: z.boolean().default(false) })
    .describe('Never answers; done or not.'),
  z
    .strictObject({
      type: z.literal('redirect'),
      status: z.int().min(300).max(399).default(307),
      location: z.string().default('/elsewhere'),
    })
    .describe('Sent elsewhere, not done.'),
  z
    .strictObject({
      type: z.literal('huge'),
      bytes: z
        .int()
        .positive()
        .max(256 * 2 ** 20)
        .default(8 * 2 ** 20),
    })
    .describe('Done, and a reply of that many bytes.'),
])
export type Fault = z.infer<typeof Fault>
export type FaultInput = z.input<typeof Fault>

/** The first unused rule that fits a request applies. */
export const FaultRule = z.strictObject({
  operation: z.enum(OPERATIONS).optional().describe('Any operation when absent.'),
  subject: z
    .string()
    .optional()
    .describe('Name or id of a pipe, id of an alert or of a service; any when absent.'),
  nth: z
    .int()
    .min(1)
    .default(1)
    .describe('Number of the first matching request, without requests that an earlier rule took.'),
  times: z
    .union([z.int().min(1), z.literal('always')])
    .default(1)
    .describe('For how many requests.'),
  fault: Fault.describe('The fault.'),
})
export type FaultRule = z.infer<typeof FaultRule>
export type FaultRuleInput = z.input<typeof FaultRule>

/** A subject's n-th request depends only on the seed. */
export const FaultMix = z.strictObject({
  seed: z.int(),
  faults: z
    .array(z.strictObject({ probability: z.number().min(0).max(1), fault: Fault }))
    .refine(
      (faults) => faults.reduce((sum, { probability }) => sum + probability, 0) <= 1 + Number.EPSILON * 8,
      'the probabilities must not add up to more than 1',
    ),
})
export type FaultMix = z.infer<typeof FaultMix>
export type FaultMixInput = z.input<typeof FaultMix>

export const FaultsFile = z.strictObject({
  rules: z.array(FaultRule).default([]).describe('A script: the first rule that fits a request decides.'),
  mix: FaultMix.optional().describe('Faults by chance, for requests that no rule fits.'),
})
export type FaultsFile = z.infer<typeof FaultsFile>

/** @throws {SandboxFileError} */
export function readFaults(file: string): Promise<FaultsFile> {
  return readSandboxFile(file, FaultsFile)
}
