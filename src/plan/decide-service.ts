import type { Action } from './action.ts'
import { firstStop, invalid, orphaned, secretUnavailable, vanishing } from './gates.ts'
import type { ServiceInput } from './input.ts'

/** A service is never created: what can be wrong with it is its manifest and its credentials. */
export function decideService(input: ServiceInput): Action {
  const stop = firstStop(input, [orphaned, vanishing, invalid, secretUnavailable])
  if (stop !== undefined) return stop
  if (input.authFailure !== undefined) {
    return { type: 'refuse', reason: 'AuthFailed', facts: { said: input.authFailure } }
  }
  return { type: 'observe', reason: 'InUse', facts: undefined }
}
