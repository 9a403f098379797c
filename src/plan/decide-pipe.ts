import { isReturnedField } from '../kinds/body-shape.ts'
import { changedFields } from '../kinds/fingerprint.ts'
import { sameId } from '../lib/same-id.ts'
import type { Action } from './action.ts'
import { driftWords } from './drift-words.ts'
import {
  backingOff,
  createBrake,
  dependencyNotReady,
  firstStop,
  invalid,
  kinFirst,
  lockUnreadable,
  orphaned,
  secretUnavailable,
  serviceInvalid,
  suspended,
  unfound,
  vanishing,
} from './gates.ts'
import type { PipeInput } from './input.ts'
import {
  adoptInstead,
  isSaidGone,
  massMissing,
  neverSeen,
  replacedRecently,
  unbelieved,
} from './missing-gates.ts'
import { isDismissed, namedPipe, outcomeUnknownWords, undecidedIntent } from './outcome-unknown.ts'
import type { Intent, RecordedPipe } from './record.ts'

export function decidePipe(input: PipeInput): Action {
  return firstStop(input, [orphaned, vanishing, suspended]) ?? decideLivePipe(input)
}

function decideLivePipe(input: PipeInput): Action {
  const { pipe, intent } = input.recorded
  if (pipe !== undefined) return decideExisting(input, pipe)
  return firstStop(input, [invalid, adoption]) ?? decideWithoutPipe(input, intent)
}

/** There is no id: is there a request that may have made one? */
function decideWithoutPipe(input: PipeInput, intent: Intent | undefined): Action {
  const undecided = undecidedIntent(input.recorded)
  if (undecided !== undefined && !isDismissed(input, undecided))
    return foundByRead(undecided) ?? outcomeUnknown(input, undecided)
  const stop = firstStop(input, [
    unfound,
    serviceInvalid,
    lockUnreadable,
    kinFirst,
    backingOff,
    dependencyNotReady,
    secretUnavailable,
    createBrake,
  ])
  return stop ?? { type: 'create', ...whyNow(intent) }
}

function whyNow(intent: Intent | undefined): Pick<Action, 'reason' | 'message'> {
  if (intent === undefined) return { reason: 'New', message: 'It was never created; it is created now.' }
  if (intent.state === 'failed') {
    return {
      reason: 'RetryFailed',
      message: `Attempt ${intent.attempt} failed without effect; it is tried again.`,
    }
  }
  return {
    reason: 'RetryApproved',
    message: `Attempt ${intent.attempt} created nothing, as a person said; it is created now.`,
  }
}

/** The reply was no proof, and held an id: one reading tells whether that is the new pipe. */
function foundByRead({ attempt, seen }: Intent): Action | undefined {
  if (seen?.pipeId === undefined) return undefined
  return {
    type: 'adopt',
    reason: 'FoundByRead',
    pipeId: seen.pipeId,
    message: `The reply to attempt ${attempt} was not whole and held the id ${seen.pipeId}; a reading tells whether that is its pipe.`,
  }
}

/** A manifest or a Lock names the pipe to take over. */
function adoption(input: PipeInput): Action | undefined {
  const pipeId = namedPipe(input)
  if (pipeId === undefined) return undefined
  const who = pipeId === input.policy.adopt ? 'policy.adopt' : 'a Lock'
  return { type: 'adopt', reason: 'Adopt', pipeId, message: `Pipe ${pipeId} is taken over, as ${who} says.` }
}

function outcomeUnknown({ desired, recorded, surroundings }: PipeInput, intent: Intent): Action {
  const unknown = { key: desired.key, record: recorded, intent, knownIds: surroundings.knownIds }
  return { type: 'refuse', reason: 'OutcomeUnknown', message: outcomeUnknownWords(unknown) }
}

/** There is an id: what does the platform say of it? */
function decideExisting(input: PipeInput, pipe: RecordedPipe): Action {
  const conflict = adoptConflict(input, pipe)
  if (conflict !== undefined) return conflict
  switch (input.observed.status) {
    case 'missing':
      return decideMissing(input, pipe)
    case 'unseen':
    case 'found':
      return invalid(input) ?? decideFound(input, pipe)
  }
}

/** A manifest that names another pipe than the one we hold: taking it would lose sight of ours. */
function adoptConflict({ policy, observed }: PipeInput, pipe: RecordedPipe): Action | undefined {
  if (policy.adopt === undefined || sameId(policy.adopt, pipe.id) || observed.status === 'missing')
    return undefined
  return {
    type: 'refuse',
    reason: 'AdoptRefused',
    message:
      `policy.adopt names ${policy.adopt}, but this is already pipe ${pipe.id}, which exists. Remove policy.adopt, or give ` +
      'the other pipe a manifest of its own.',
  }
}

/** What is still to be proved before a pipe that answers 404 is replaced: the first of these that is not decides. */
function decideMissing(input: PipeInput, pipe: RecordedPipe): Action {
  const { policy } = input
  const isSaid = isSaidGone(input, pipe)
  const proof = isSaid ? [adoptInstead] : [massMissing, adoptInstead, neverSeen, unbelieved]
  const unproved = firstStop(input, proof)
  if (unproved !== undefined) return unproved
  if (policy.onMissing === 'report' && !isSaid) {
    return {
      type: 'report',
      reason: 'Missing',
      differences: [],
      message: `Pipe ${pipe.id} is gone, and policy.onMissing says to report only. Set it to "recreate" to have it created anew.`,
    }
  }
  const stop = firstStop(input, [
    ...(isSaid ? [] : [replacedRecently]),
    invalid,
    unfound,
    serviceInvalid,
    kinFirst,
    backingOff,
    dependencyNotReady,
    secretUnavailable,
    createBrake,
  ])
  if (stop !== undefined) return stop
  return isSaid
    ? {
        type: 'create',
        reason: 'RecreateApproved',
        message: `Pipe ${pipe.id} is gone, as a person said; a new one is created.`,
      }
    : { type: 'create', reason: 'Missing', message: `Pipe ${pipe.id} is gone; a new one is created.` }
}

function decideFound(input: PipeInput, pipe: RecordedPipe): Action {
  const { desired, observed } = input
  const differences = observed.status === 'found' ? observed.differences : []
  const edited = editedFields(input)
  if (desired.otherService || edited.length > 0) {
    const settled =
      observed.status === 'found' &&
      differences.length === 0 &&
      edited.every((field) => isReturnedField(input.kind.fields, field))
    if (settled && !desired.otherService) {
      return {
        type: 'observe',
        reason: 'Accepted',
        message: `The manifest was edited (${edited.join(', ')}) to what the platform reports.`,
      }
    }
    const fields = desired.otherService ? ['service', ...edited] : edited
    return {
      type: 'report',
      reason: 'NotUpdatable',
      differences,
      message:
        `${fields.join(', ')} changed in the manifest, but the interface cannot update a pipe. Undo the edit; or change pipe ` +
        `${pipe.id} in the console, which settles this where the platform reports the field, and otherwise with ` +
        `"pipewright adopt ${desired.key} ${pipe.id}"; or give the new pipe another metadata.name, with policy.replaces: ${desired.key}.`,
    }
  }
  const rotated = rotatedSecrets(input)
  if (rotated.length > 0) {
    return {
      type: 'report',
      reason: 'SecretRotated',
      differences,
      message:
        `The value of ${rotated.join(', ')} changed since the pipe was created, and the interface cannot update a pipe. Change it ` +
        `for pipe ${pipe.id} in the console, then run "pipewright adopt ${desired.key} ${pipe.id}".`,
    }
  }
  if (differences.length > 0) {
    return {
      type: 'report',
      reason: 'Drifted',
      differences,
      message: driftWords(differences),
    }
  }
  if (observed.status === 'unseen') {
    return { type: 'observe', reason: 'Unobserved', message: `Pipe ${pipe.id} was not looked at yet.` }
  }
  return { type: 'observe', reason: 'InSync', message: 'The platform reports what the manifest asks for.' }
}

/** Paths that were edited since the pipe was created. The digests tell whether there are any; fields are made only to name them. */
function editedFields({ desired, recorded }: PipeInput): readonly string[] {
  const { fingerprint } = desired
  const { applied } = recorded
  if (fingerprint === undefined || applied === undefined || fingerprint.digest === applied.digest) return []
  return changedFields(applied.fields, fingerprint.fields)
}

/** Paths whose secret has another value than at creation; one that cannot be read now is not "changed". */
function rotatedSecrets({ desired, recorded }: PipeInput): readonly string[] {
  const before = recorded.applied?.secrets ?? {}
  const after = desired.fingerprint?.secrets ?? {}
  return Object.keys(after)
    .filter((path) => before[path] !== undefined && before[path] !== after[path])
    .toSorted()
}
