import { parseDuration } from '../lib/duration.ts'
import type { Action } from './action.ts'
import {
  backingOff,
  dependencyNotReady,
  firstStop,
  invalid,
  orphaned,
  secretUnavailable,
  serviceInvalid,
  suspended,
  unfound,
  vanishing,
} from './gates.ts'
import type { EndpointInput } from './input.ts'

export function decideEndpoint(input: EndpointInput): Action {
  const stop = firstStop(input, [orphaned, vanishing, suspended, invalid, dependencyNotReady])
  if (stop !== undefined) return stop
  const action = decideUpsert(input)
  return (
    (action.type === 'upsert' ? firstStop(input, [unfound, serviceInvalid, secretUnavailable]) : undefined) ??
    action
  )
}

function decideUpsert(input: EndpointInput): Action {
  const { desired, recorded, policy, timing, now, replyDiffers, takesAway } = input
  const waiting = backingOff(input)
  if (waiting !== undefined) return waiting
  const { upsert, applied } = recorded
  if (upsert === undefined) {
    return {
      type: 'upsert',
      reason: 'New',
      takesAway: [],
      message: 'It was never applied; applying it replaces whatever is configured there now.',
    }
  }
  if (applied === undefined) {
    return {
      type: 'upsert',
      reason: 'Edited',
      takesAway,
      message: 'Nobody knows whether the last request was carried out; it is applied again.',
    }
  }
  if (desired.otherService || desired.fingerprint?.digest !== applied.digest) {
    const loss = takesAway.length === 0 ? '' : ` It takes away ${takesAway.join(', ')}.`
    return {
      type: 'upsert',
      reason: 'Edited',
      takesAway,
      message: `The manifest changed; it is applied.${loss}`,
    }
  }
  const intervalMs =
    (policy.interval === undefined ? undefined : parseDuration(policy.interval)) ?? timing.resyncMs
  // A clock that was set back must not put the resync off for as long as it was ahead.
  if (now - upsert.at >= intervalMs || now < upsert.at) {
    return {
      type: 'upsert',
      reason: 'Resync',
      takesAway: [],
      message: 'It was applied longer ago than its interval.',
    }
  }
  if (replyDiffers.length > 0) {
    return {
      type: 'report',
      reason: 'Stalled',
      differences: replyDiffers,
      message:
        `It was applied, but the platform answered with other values for ${replyDiffers.map((d) => d.field).join(', ')}. ` +
        'Check that the manifest is what the platform accepts; it is applied again at its interval.',
    }
  }
  return { type: 'observe', reason: 'InSync', message: 'The last reply said what the manifest asks for.' }
}
