import { isReadable } from '../kinds/definition.ts'
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
  manifestMissing,
} from './gates.ts'
import { decideRead } from './decide-read-upsert.ts'
import type { UpsertInput } from './input.ts'

export function decideUpsert(input: UpsertInput): Action {
  if (isReadable(input.kind)) return decideRead(input)
  const stop = firstStop(input, [orphaned, manifestMissing, suspended, invalid, dependencyNotReady])
  if (stop !== undefined) return stop
  const action = decideApplied(input)
  return (
    (action.type === 'upsert' ? firstStop(input, [unfound, serviceInvalid, secretUnavailable]) : undefined) ??
    action
  )
}

function decideApplied(input: UpsertInput): Action {
  const { desired, recorded, policy, timing, now, replyDiffers, takesAway, isOvertaken, mask } = input
  const waiting = backingOff(input)
  if (waiting !== undefined) return waiting
  const { upsert, applied } = recorded
  if (upsert === undefined) {
    return {
      type: 'upsert',
      reason: 'New',
      takesAway: [],
      facts: { is: 'applied' },
    }
  }
  if (applied === undefined) {
    return {
      type: 'upsert',
      reason: 'Edited',
      takesAway,
      facts: { takesAway: takesAway.map(mask), again: true },
    }
  }
  if (desired.otherService || desired.fingerprint?.digest !== applied.digest) {
    return {
      type: 'upsert',
      reason: 'Edited',
      takesAway,
      facts: { takesAway: takesAway.map(mask), again: false },
    }
  }
  const intervalMs =
    (policy.interval === undefined ? undefined : parseDuration(policy.interval)) ?? timing.resyncMs
  // Even if the clock was set back.
  if (isOvertaken || now - upsert.at >= intervalMs || now < upsert.at) {
    return {
      type: 'upsert',
      reason: 'Resync',
      takesAway: [],
      facts: undefined,
    }
  }
  if (replyDiffers.length > 0) {
    return {
      type: 'report',
      reason: 'Stalled',
      differences: replyDiffers,
      facts: { fields: replyDiffers.map(({ field }) => field), now: false },
    }
  }
  return { type: 'observe', reason: 'InSync', facts: { as: 'upsert' } }
}
