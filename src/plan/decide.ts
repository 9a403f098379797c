import type { Action } from './action.ts'
import { decideCreateOnce } from './decide-create-once.ts'
import {
  differencesIn,
  type DecideInput,
  type ReadOnlyInput,
  type ReferenceInput,
  type UpsertInput,
} from './input.ts'
import { attemptFacts, undecidedIntent } from './outcome-unknown.ts'
import { sameId } from '../lib/same-id.ts'
import {
  findBlocker,
  invalid,
  orphaned,
  suspended,
  manifestMissing,
  secretUnavailable,
  backingOff,
  dependencyNotReady,
  reportDrift,
  serviceInvalid,
  unfound,
} from './gates.ts'
import { isReadable } from '../kinds/definition.ts'
import { intervalOf } from './requeue.ts'
import { decideRead } from './decide-read-upsert.ts'

export function decide(input: DecideInput): Action {
  switch (input.lifecycle) {
    case 'create-once':
      return decideCreateOnce(input)
    case 'upsert':
      return decideUpsert(input)
    case 'read-only':
      return decideReadOnly(input)
    case 'reference':
      return decideReference(input)
  }
}

function decideReadOnly(input: ReadOnlyInput): Action {
  return (
    findBlocker(input, [orphaned, manifestMissing, suspended, invalid, leftBehind]) ?? decideWatched(input)
  )
}

/** The manifest now names another resource to watch, so the resource that the key created or adopted is reported. */
function leftBehind(input: ReadOnlyInput): Action | undefined {
  const { desired, recorded, watchedId } = input
  const intent = undecidedIntent(recorded)
  const pipeId = sameId(recorded.remote?.id, watchedId) ? undefined : recorded.remote?.id
  if (pipeId === undefined && intent === undefined) return undefined
  const attempt = intent && attemptFacts(intent)
  const differences = differencesIn(input.observed)
  const facts = { key: desired.key, pipeId, attempt, isNothing: false, isWatching: true } as const
  return { type: 'report', reason: 'Orphaned', differences, facts }
}

function decideWatched({ observed }: ReadOnlyInput): Action {
  if (observed.status !== 'found') {
    return { type: 'observe', reason: 'Unobserved', facts: { why: 'not read' } }
  }
  if (observed.differences.length === 0) {
    return { type: 'observe', reason: 'InSync', facts: { as: 'read-only' } }
  }
  return reportDrift(observed.differences, 'expectation')
}

function decideReference(input: ReferenceInput): Action {
  const stop = findBlocker(input, [orphaned, manifestMissing, invalid, secretUnavailable])
  if (stop !== undefined) return stop
  const { contact } = input
  switch (contact?.type) {
    case undefined:
    case 'edited':
      return { type: 'observe', reason: 'Unobserved', facts: { why: 'not answered' } }
    case 'answered':
      return { type: 'observe', reason: 'InSync', facts: { as: 'reference' } }
    case 'refused':
      return { type: 'refuse', reason: 'AuthFailed', facts: { said: contact.said } }
    case 'unreachable':
      return { type: 'refuse', reason: 'Unavailable', facts: { said: contact.said } }
  }
}

function decideUpsert(input: UpsertInput): Action {
  if (isReadable(input.kind)) return decideRead(input)
  const stop = findBlocker(input, [orphaned, manifestMissing, suspended, invalid, dependencyNotReady])
  if (stop !== undefined) return stop
  const action = decideApplied(input)
  return (
    (action.type === 'upsert'
      ? findBlocker(input, [unfound, serviceInvalid, secretUnavailable])
      : undefined) ?? action
  )
}

const APPLIED = { fields: [], by: [], is: 'to be applied' } as const

function decideApplied(input: UpsertInput): Action {
  const { desired, recorded, now, replyDiffers, takesAway, isOvertaken, mask } = input
  const waiting = backingOff(input)
  if (waiting !== undefined) return waiting
  const { upsert, applied } = recorded
  if (upsert === undefined) {
    return { type: 'upsert', reason: 'New', takesAway: [], facts: { is: 'applied' } }
  }
  const again = applied === undefined
  if (again || desired.otherService || desired.fingerprint?.digest !== applied.digest) {
    return {
      type: 'upsert',
      reason: 'Changing',
      takesAway,
      facts: {
        why: again ? 'unknown' : 'edited',
        ...APPLIED,
        ...(!again && { access: { takesAway: takesAway.map(mask) } }),
      },
    }
  }
  // `now < upsert.at`: the clock was set back.
  if (isOvertaken || now - upsert.at >= intervalOf(input, upsert) || now < upsert.at) {
    return { type: 'upsert', reason: 'Changing', takesAway: [], facts: { why: 'interval', ...APPLIED } }
  }
  if (replyDiffers.length > 0) {
    return {
      type: 'report',
      reason: 'Stalled',
      differences: replyDiffers,
      facts: { fields: replyDiffers.map(({ field }) => field) },
    }
  }
  return { type: 'observe', reason: 'InSync', facts: { as: 'upsert' } }
}
