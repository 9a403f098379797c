import type { Action } from './action.ts'
import { firstStop, invalid, orphaned, suspended, vanishing } from './gates.ts'
import type { AlertInput } from './input.ts'

/** Alerts are looked at and never changed. */
export function decideAlert(input: AlertInput): Action {
  return firstStop(input, [orphaned, vanishing, suspended, invalid]) ?? decideFound(input)
}

function decideFound({ observed }: AlertInput): Action {
  if (observed.status !== 'found') {
    return { type: 'observe', reason: 'Unobserved', facts: { why: 'alert' } }
  }
  if (observed.differences.length === 0) {
    return { type: 'observe', reason: 'InSync', facts: { as: 'read-only' } }
  }
  return {
    type: 'report',
    reason: 'Drifted',
    differences: observed.differences,
    facts: { fields: observed.differences.map(({ field }) => field), from: 'expectation' },
  }
}
