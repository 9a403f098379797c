import { sha256 } from '../lib/digest.ts'
import { z } from '../kinds/zod.ts'
import { Fault } from './fault-types.ts'
import { type OperationId, OPERATIONS } from './sandbox-platform.ts'

/** For each request, the first rule that fits and is not used up decides the reply. */
export const FaultRule = z.strictObject({
  operation: z.enum(OPERATIONS).optional().describe('Default: any operation.'),
  subject: z
    .string()
    .optional()
    .describe('Name or id of a pipe, or id of an alert or a service. Default: any.'),
  nth: z
    .int()
    .min(1)
    .default(1)
    .describe(
      'The rule begins with the n-th request that fits. Requests that an earlier rule took do not count.',
    ),
  times: z
    .union([z.int().min(1), z.literal('always')])
    .default(1)
    .describe('Number of requests that get the fault, or `always`.'),
  fault: Fault.describe('The fault.'),
})
export type FaultRuleInput = z.input<typeof FaultRule>

/** Random faults. With the same seed, the n-th request of an operation on a subject gets the same fault. */
const FaultMix = z.strictObject({
  seed: z.int(),
  faults: z
    .array(z.strictObject({ probability: z.number().min(0).max(1), fault: Fault }))
    .refine(
      (faults) => faults.reduce((sum, { probability }) => sum + probability, 0) <= 1 + Number.EPSILON * 8,
      'the probabilities must not add up to more than 1',
    ),
})

export const FaultsFile = z.strictObject({
  rules: z
    .array(FaultRule)
    .default([])
    .describe('Fault rules. For each request, the first rule that fits decides the reply.'),
  mix: FaultMix.optional().describe('Random faults, for requests that no rule fits.'),
})

export type FaultsInput = z.input<typeof FaultsFile>

export interface FaultTarget {
  readonly operation: OperationId
  /** Texts that a rule's `subject` can match, such as the id and the name of a pipe. */
  readonly subjects: readonly string[]
}

export type Faults = ReturnType<typeof createFaults>

export function createFaults(first: FaultsInput = {}) {
  let script = (first.rules ?? []).map(inUse)
  let chance = first.mix && FaultMix.parse(first.mix)
  const counts = new Map<string, number>()

  return {
    /** Adds rules after all others. @throws ZodError */
    add(...rules: readonly FaultRuleInput[]): void {
      script.push(...rules.map(inUse))
    },
    /** Adds rules before all others. @returns function that removes them @throws ZodError */
    impose(...rules: readonly FaultRuleInput[]): () => void {
      const lines = rules.map(inUse)
      script = [...lines, ...script]
      return () => {
        script = script.filter((line) => !lines.includes(line))
      }
    },
    /** @throws ZodError */
    mix(mix: FaultsInput['mix']): void {
      chance = mix === undefined ? undefined : FaultMix.parse(mix)
      counts.clear()
    },
    clear(): void {
      script = []
      chance = undefined
      counts.clear()
    },
    pick(target: FaultTarget): Fault | undefined {
      const line = script.find((rule) => takes(rule, target))
      return line?.fault ?? draw(target)
    },
  }

  function draw(target: FaultTarget): Fault | undefined {
    if (chance === undefined) return undefined
    const counter = `${target.operation} ${target.subjects[0] ?? ''}`
    const nth = (counts.get(counter) ?? 0) + 1
    counts.set(counter, nth)
    const digits = sha256(`${chance.seed} ${counter} ${nth}`).slice(0, 12)
    let rest = Number.parseInt(digits, 16) / 2 ** 48
    for (const { probability, fault } of chance.faults) {
      if (rest < probability) return fault
      rest -= probability
    }
    return undefined
  }
}

function inUse(rule: FaultRuleInput) {
  return { ...FaultRule.parse(rule), seen: 0, used: 0 }
}

function takes(line: ReturnType<typeof inUse>, target: FaultTarget): boolean {
  const { operation, subject, nth, times } = line
  if (operation !== undefined && operation !== target.operation) return false
  if (subject !== undefined && !target.subjects.includes(subject)) return false
  if (times !== 'always' && line.used >= times) return false
  line.seen += 1
  if (line.seen < nth) return false
  line.used += 1
  return true
}
