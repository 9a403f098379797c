import { isReturnedField } from '../kinds/field-table.ts'
import { sameId } from '../lib/same-id.ts'
import type { Action } from './action.ts'
import {
  adoptOfOlder,
  backingOff,
  createLimitReached,
  dependencyNotReady,
  findBlocker,
  invalid,
  similarFirst,
  lockUnreadable,
  orphaned,
  reportDrift,
  secretUnavailable,
  serviceInvalid,
  suspended,
  unfound,
  manifestMissing,
} from './gates.ts'
import { differencesIn, type CreateOnceInput } from './input.ts'
import {
  adoptInstead,
  adoptReplaced,
  isSaidGone,
  massMissing,
  neverSeen,
  replacedRecently,
  stillListed,
  missingUnconfirmed,
} from './missing-gates.ts'
import { decideChange } from './decide-change.ts'
import { decideStartStop } from './start-stop.ts'
import { isDeletionUnderWay } from './deletion-mark.ts'
import { absent, decideAbsent, sentDeletionFirst, goneUnconfirmed } from './decide-deletion.ts'
import { editedFields, isEdited, isSameSecret, rotatedSecrets } from './edited.ts'
import { foundByList, listedFirst } from './listed.ts'
import { wasGivenUp } from './missing.ts'
import { isDismissed, namedId, undecidedIntent, unknownFacts } from './outcome-unknown.ts'
import type { Because } from './reason.ts'
import type { Intent, Remote } from './record.ts'
import { isStoppedByUs } from './run-state.ts'
import { notVerified } from './unverified.ts'

export function decideCreateOnce(input: CreateOnceInput): Action {
  const stop = findBlocker(input, [deletedBefore, orphaned, manifestMissing, suspended])
  if (stop === undefined) return decideLive(input)
  return isBeingDeleted(input) ? stop : (startedFirst(input) ?? stop)
}

function deletedBefore(input: CreateOnceInput): Action | undefined {
  const { remote } = input.recorded
  const isGone = input.desired.state === 'absent' && remote !== undefined
  return isGone ? sentDeletionFirst(input) : undefined
}

function isBeingDeleted({ recorded }: CreateOnceInput): boolean {
  return recorded.removal?.isSent === true
}

/** Starts a pipe that was stopped for a change, even if its manifest is missing or suspended. */
function startedFirst(input: CreateOnceInput): Action | undefined {
  const isStopped = isStoppedByUs(input.recorded) && input.policy.paused !== true
  return isStopped ? decideStartStop(input) : undefined
}

function decideLive(input: CreateOnceInput): Action {
  const { remote, intent } = input.recorded
  if (remote !== undefined) return decideExisting(input, remote)
  return findBlocker(input, [invalid, adoption]) ?? decideWithoutRemote(input, intent)
}

const BEFORE_CREATE = [
  similarFirst,
  listedFirst,
  backingOff,
  dependencyNotReady,
  secretUnavailable,
  createLimitReached,
] as const

function decideWithoutRemote(input: CreateOnceInput, intent: Intent | undefined): Action {
  const undecided = undecidedIntent(input.recorded)
  const isOlder = input.surroundings.olderThan !== undefined
  if (undecided !== undefined && !isDismissed(input, undecided))
    return (
      foundByRead(undecided) ?? (isOlder ? undefined : foundByList(input)) ?? outcomeUnknown(input, undecided)
    )
  const stop = findBlocker(input, [absent, unfound, serviceInvalid, lockUnreadable, ...BEFORE_CREATE])
  return stop ?? { type: 'create', ...whyNow(input, intent) }
}

function whyNow({ policy, knownStates }: CreateOnceInput, intent: Intent | undefined): Because {
  const paused = knownStates?.startPaused === undefined ? 'after the start' : 'from the start'
  if (intent === undefined)
    return { reason: 'New', facts: { is: 'created', ...(policy.paused === true && { paused }) } }
  const { attempt } = intent
  return { reason: 'New', facts: { is: intent.state === 'failed' ? 'tried again' : 'settled', attempt } }
}

/** The create's reply had an id, but was incomplete. The adoption reads that pipe. */
function foundByRead({ attempt, seen }: Intent): Action | undefined {
  if (seen?.pipeId === undefined) return undefined
  const { pipeId } = seen
  return { type: 'adopt', reason: 'Adopt', facts: { pipeId, by: 'a reply', attempt } }
}

function adoption(input: CreateOnceInput): Action | undefined {
  const pipeId = namedId(input)
  const isUnwanted = input.policy.ensure === 'absent' && undecidedIntent(input.recorded) === undefined
  if (pipeId === undefined || isUnwanted) return undefined
  const by = pipeId === input.policy.adopt ? 'policy.adopt' : 'a Lock'
  const held = adoptOfOlder(input, pipeId, by)
  if (held === undefined)
    return isOfOrphan(input) ? similarFirst(input) : { type: 'adopt', reason: 'Adopt', facts: { pipeId, by } }
  const attempt = undecidedIntent(input.recorded)
  return attempt === undefined ? held : outcomeUnknown(input, attempt)
}

function isOfOrphan({ surroundings: { similar } }: CreateOnceInput): boolean {
  return similar?.by !== undefined && similar.by !== 'policy.renamedFrom'
}

function outcomeUnknown({ recorded, surroundings }: CreateOnceInput, intent: Intent): Action {
  const facts = unknownFacts(recorded, intent, surroundings.knownIds)
  return { type: 'refuse', reason: 'OutcomeUnknown', facts }
}

function decideExisting(input: CreateOnceInput, remote: Remote): Action {
  const conflict = adoptConflict(input, remote)
  if (conflict !== undefined) return startedFirst(input) ?? conflict
  if (input.policy.ensure === 'absent') return decideUnwanted(input)
  const first = sentDeletionFirst(input)
  if (first !== undefined) return first
  switch (input.observed.status) {
    case 'missing':
      return decideMissing(input, remote)
    case 'unseen':
      return invalid(input) ?? decideFound(input, remote)
    case 'found':
      return invalidFound(input) ?? decideFound(input, remote)
  }
}

function decideUnwanted(input: CreateOnceInput): Action {
  const action = sentDeletionFirst(input) ?? invalid(input) ?? decideAbsent(input)
  return isDeletionUnderWay(action) ? action : (startedFirst(input) ?? action)
}

function invalidFound(input: CreateOnceInput): Action | undefined {
  const hold = invalid(input)
  if (hold === undefined || !isStoppedByUs(input.recorded)) return hold
  return decideStartStop(input) ?? hold
}

/** Refuses to adopt a second pipe, because the record would lose the first. */
function adoptConflict({ policy, observed, recorded }: CreateOnceInput, remote: Remote): Action | undefined {
  if (policy.adopt === undefined || sameId(policy.adopt, remote.id) || observed.status === 'missing')
    return undefined
  if (wasGivenUp(recorded, policy.adopt)) return undefined
  return {
    type: 'refuse',
    reason: 'AdoptRefused',
    facts: { is: 'second', pipeId: policy.adopt, recorded: remote.id },
  }
}

function decideMissing(input: CreateOnceInput, remote: Remote): Action {
  const { policy } = input
  const isSaid = isSaidGone(input, remote)
  const isOurs = isBeingDeleted(input)
  const proof = isSaid
    ? [adoptInstead, stillListed]
    : isOurs
      ? [adoptInstead, goneUnconfirmed, stillListed]
      : [adoptInstead, massMissing, neverSeen, missingUnconfirmed, stillListed]
  const unproved = findBlocker(input, proof)
  if (unproved !== undefined) return unproved
  const { foreign } = remote
  if (!isSaid && (foreign !== undefined || (policy.onMissing === 'report' && !isOurs))) {
    return {
      type: 'report',
      reason: 'Missing',
      differences: [],
      facts: { pipeId: remote.id, onMissing: 'report', foreign },
    }
  }
  const stop = findBlocker(input, [
    ...(isSaid || isOurs ? [] : [replacedRecently]),
    invalid,
    unfound,
    serviceInvalid,
    ...BEFORE_CREATE,
    adoptReplaced,
  ])
  if (stop !== undefined) return stop
  if (isOurs) {
    const facts = { why: 'back', fields: [], pipeId: remote.id, removal: { is: 'done' } } as const
    return { type: 'create', reason: 'Deleting', facts }
  }
  return isSaid
    ? { type: 'create', reason: 'New', facts: { is: 'gone', pipeId: remote.id } }
    : { type: 'create', reason: 'Missing', facts: { pipeId: remote.id, onMissing: 'recreate' } }
}

function decideFound(input: CreateOnceInput, remote: Remote): Action {
  const { desired, observed, compared, kind } = input
  if (kind.changes !== undefined && compared !== undefined)
    return decideChange(input, remote, { changes: kind.changes, compared })
  const differences = differencesIn(observed)
  const edited = editedFields(input)
  if (desired.otherService || edited.length > 0) {
    const settled =
      observed.status === 'found' &&
      differences.length === 0 &&
      edited.every((field) => isSameSecret(input, field) || isReturnedField(input.kind.fields, field))
    if (settled && !desired.otherService) {
      return { type: 'observe', reason: 'InSync', facts: { as: 'create-once', accepted: edited } }
    }
    const fields = desired.otherService ? ['service', ...edited] : edited
    const why = !desired.otherService ? undefined : isStoppedByUs(input.recorded) ? 'stopped' : 'service'
    return {
      type: 'report',
      reason: 'NotUpdatable',
      differences,
      facts: { key: desired.key, fields, pipeId: remote.id, why },
    }
  }
  const rotated = rotatedSecrets(input)
  if (rotated.length > 0) {
    return {
      type: 'report',
      reason: 'SecretRotated',
      differences,
      facts: { key: desired.key, fields: rotated, pipeId: remote.id },
    }
  }
  if (differences.length > 0) return reportDrift(differences, 'manifest')
  if (observed.status === 'unseen') {
    return { type: 'observe', reason: 'Unobserved', facts: { why: 'not read', pipeId: remote.id } }
  }
  if (isEdited(input))
    return { type: 'observe', reason: 'InSync', facts: { as: 'create-once', accepted: edited } }
  return notVerified(input) ?? { type: 'observe', reason: 'InSync', facts: { as: 'create-once' } }
}
