import type { FaultInput } from '../../../src/sandbox/fault-types.ts'
import type { FaultRuleInput } from '../../../src/sandbox/faults.ts'
import type { Random } from '../random.ts'

const CHANGES = ['updatePipe', 'scalePipe', 'putPipeSettings', 'setPipeState'] as const

/** What can befall a change, by weight. */
const FAULTS: readonly (readonly [number, FaultInput])[] = [
  [12, { type: 'cut-after' }],
  [6, { type: 'not-applied' }],
  [5, { type: 'cut-before' }],
  [5, { type: 'reset' }],
  [5, { type: 'status', status: 500 }],
  [3, { type: 'status', status: 503 }],
  [5, { type: 'error-after', status: 500 }],
  [4, { type: 'status', status: 424 }],
  [3, { type: 'status', status: 400 }],
  [2, { type: 'status', status: 409 }],
  [4, { type: 'rate-limit', seconds: 1, header: 'retry-after' }],
  [4, { type: 'half-body' }],
  [2, { type: 'hang', done: true }],
  [2, { type: 'hang', done: false }],
  [2, { type: 'html', status: 502 }],
  [8, { type: 'latency', ms: 300 }],
  [4, { type: 'latency', ms: 1_300 }],
]

/** Most faulty requests of one kind for one pipe. */
const MOST = 5

/** Faults of the changes of one pipe, with good ones in between. */
export function faultsOfChanges(random: Random, platformName: string): readonly FaultRuleInput[] {
  return CHANGES.flatMap((operation) => {
    const rules: FaultRuleInput[] = []
    let gap = 1
    for (let n = 0; n < MOST; n += 1) {
      if (random.chance(0.6)) {
        gap += 1
        continue
      }
      rules.push({ operation, subject: platformName, nth: gap, times: 1, fault: random.weighted(FAULTS) })
      gap = 1
    }
    return rules
  })
}
