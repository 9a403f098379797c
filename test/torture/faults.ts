import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import type { FaultRuleInput, FaultsInput } from '../../src/sandbox/faults.ts'
import type { Random } from './random.ts'
import type { Scene } from './scene.ts'

/** What can befall a create, by weight. */
const CREATE_FAULTS: readonly (readonly [number, FaultInput])[] = [
  [5, { type: 'rate-limit', seconds: 0.2, header: 'none' }],
  [2, { type: 'rate-limit', seconds: 1, header: 'retry-after' }],
  [6, { type: 'status', status: 424 }],
  [2, { type: 'status', status: 425 }],
  [3, { type: 'status', status: 400 }],
  [2, { type: 'status', status: 409 }],
  [1, { type: 'status', status: 403 }],
  [5, { type: 'status', status: 500 }],
  [3, { type: 'status', status: 503 }],
  [1, { type: 'status', status: 408 }],
  [7, { type: 'reset' }],
  [7, { type: 'cut-before' }],
  [12, { type: 'cut-after' }],
  [9, { type: 'half-body' }],
  [6, { type: 'no-id' }],
  [4, { type: 'html', status: 502 }],
  [2, { type: 'html', status: 200 }],
  [7, { type: 'error-after', status: 500 }],
  [3, { type: 'hang', done: false }],
  [4, { type: 'hang', done: true }],
  [2, { type: 'redirect' }],
  [12, { type: 'latency', ms: 150 }],
  [8, { type: 'latency', ms: 700 }],
  [4, { type: 'latency', ms: 1_400 }],
]

/** Most faulty requests of one kind for one pipe: a person's patience has an end. */
const MOST = 5

/** Faults of the creates of one pipe. */
export function faultsOfCreates(random: Random, subject: string): readonly FaultRuleInput[] {
  return faultsOf(random, { operation: 'createPipe', subject }, { faults: CREATE_FAULTS, good: 0.45 })
}

interface Frequency {
  readonly faults: readonly (readonly [number, FaultInput])[]
  /** From 0 to 1. */
  readonly good: number
}

/** Faults of one kind of request for one pipe, one after the other, with good ones in between. */
export function faultsOf(
  random: Random,
  target: Pick<FaultRuleInput, 'operation' | 'subject'>,
  { faults, good }: Frequency,
): readonly FaultRuleInput[] {
  const rules: FaultRuleInput[] = []
  let gap = 1
  for (let n = 0; n < MOST; n += 1) {
    if (random.chance(good)) {
      gap += 1
      continue
    }
    rules.push({ ...target, nth: gap, times: 1, fault: random.weighted(faults) })
    gap = 1
  }
  return rules
}

/** A replica that is behind: a new pipe is not found at first, or only when nothing goes wrong any more. */
export function lagOf(random: Random, platformName: string, { changes }: Scene): readonly FaultRuleInput[] {
  if (random.chance(0.75)) return []
  // Where a list shows it all the same, it was seen, and is believed to be gone before long.
  if (changes)
    return [{ operation: 'getPipe', subject: platformName, times: 1, fault: { type: 'status', status: 404 } }]
  const times = random.chance(0.15) ? ('always' as const) : 1 + random.below(6)
  return [{ operation: 'getPipe', subject: platformName, times, fault: { type: 'status', status: 404 } }]
}

/** What befalls everything else, and creates too, by chance. */
export function mixOf(random: Random): NonNullable<FaultsInput['mix']> {
  return {
    seed: random.below(2 ** 31),
    faults: [
      { probability: 0.01, fault: { type: 'status', status: 500 } },
      { probability: 0.005, fault: { type: 'status', status: 503 } },
      { probability: 0.005, fault: { type: 'status', status: 404 } },
      { probability: 0.003, fault: { type: 'status', status: 424 } },
      { probability: 0.001, fault: { type: 'status', status: 401 } },
      { probability: 0.002, fault: { type: 'rate-limit', seconds: 0.5, header: 'x-ratelimit-reset' } },
      { probability: 0.01, fault: { type: 'reset' } },
      { probability: 0.005, fault: { type: 'cut-before' } },
      { probability: 0.01, fault: { type: 'cut-after' } },
      { probability: 0.01, fault: { type: 'half-body' } },
      { probability: 0.003, fault: { type: 'no-id' } },
      { probability: 0.003, fault: { type: 'html', status: 404 } },
      { probability: 0.003, fault: { type: 'error-after', status: 502 } },
      { probability: 0.002, fault: { type: 'hang' } },
      { probability: 0.01, fault: { type: 'latency', ms: 200 } },
      { probability: 0.001, fault: { type: 'redirect' } },
    ],
  }
}
