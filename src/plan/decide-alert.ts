import type { Action } from './action.ts'
import { firstStop, invalid, orphaned, suspended, vanishing } from './gates.ts'
import type { AlertInput } from './input.ts'

/** Alerts are looked at and never changed. */
export function decideAlert(input: AlertInput): Action {
  return firstStop(input, [orphaned, vanishing, suspended, invalid]) ?? decideFound(input)
}

function decideFound({ observed }: AlertInput): Action {
  if (observed.status !== 'found') {
    return { type: 'observe', reason: 'Unobserved', message: 'The alert was not looked at yet.' }
  }
  if (observed.differences.length === 0) {
    return { type: 'observe', reason: 'InSync', message: 'The alert is what the manifest expects.' }
  }
  return {
    type: 'report',
    reason: 'Drifted',
    differences: observed.differences,
    message:
      `The alert has other values than expected for ${observed.differences.map((d) => d.field).join(', ')}. ` +
      'Change it back where it is defined, or edit what the manifest expects.',
  }
}
