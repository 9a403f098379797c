import type { FaultInput } from '../../../src/sandbox/fault-types.ts'
import type { FaultRuleInput } from '../../../src/sandbox/faults.ts'
import { faultsOf } from '../faults.ts'
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

/** Faults of the changes of one pipe. */
export function faultsOfChanges(random: Random, subject: string): readonly FaultRuleInput[] {
  return CHANGES.flatMap((operation) =>
    faultsOf(random, { operation, subject }, { faults: FAULTS, good: 0.6 }),
  )
}
