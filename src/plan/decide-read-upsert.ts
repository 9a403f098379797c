import type { Difference } from '../kinds/difference.ts'
import type { Action } from './action.ts'
import { AGAIN_MS, contestOf } from './corrections.ts'
import { decideAbsentUpsert } from './decide-deletion.ts'
import { editedFields } from './edited.ts'
import {
  backingOff,
  dependencyNotReady,
  firstStop,
  invalid,
  manifestMissing,
  orphaned,
  secretUnavailable,
  serviceInvalid,
  suspended,
  unfound,
} from './gates.ts'
import type { UpsertInput } from './input.ts'

/**
 * For an upserted resource that can be read. The observed values decide, and no request is sent while they
 * match.
 *
 * | desired | recorded | observed | action, reason |
 * |---|---|---|---|
 * | valid | never applied | none / differs | upsert New, with access taken away and given |
 * | valid | never applied | equal | observe Adopted |
 * | valid, edited | applied | none / differs | upsert Edited, as above |
 * | valid, edited to the observed values | applied | equal | observe Accepted |
 * | valid | a request without an outcome | none / differs | upsert Edited |
 * | valid | a request without an outcome | equal | observe Applied |
 * | valid | applied | equal | observe InSync |
 * | valid | applied | differs as the last reply did | report Stalled; after an hour upsert Changing |
 * | valid | applied, overtaken | differs | upsert Changing |
 * | valid | applied | differs | report Drifted; `onDrift: correct`: upsert Changing, third time report Contested |
 * | valid | applied | none | report Missing; `onDrift: correct`: upsert Missing |
 * | valid, ensure: absent | – | any | as {@link decideAbsentUpsert} |
 * | valid | – | not read | observe Unobserved; without a Service: refuse ServiceInvalid |
 */
export function decideRead(input: UpsertInput): Action {
  const stop = firstStop(input, [deletedBefore, orphaned, manifestMissing, suspended, invalid])
  if (stop !== undefined) return stop
  if (input.policy.ensure === 'absent') return decideAbsentUpsert(input)
  const action = decideSeen(input)
  if (action.type !== 'upsert') return action
  const gates = [unfound, backingOff, dependencyNotReady, serviceInvalid, secretUnavailable]
  return firstStop(input, gates) ?? action
}

function deletedBefore({ desired, recorded, observed }: UpsertInput): Action | undefined {
  const isSent = recorded.removal?.isSent === true && observed.status === 'missing'
  if (desired.state !== 'absent' || !isSent) return undefined
  const facts = { why: 'removed', fields: [], removal: { is: 'done' } } as const
  return { type: 'delete', reason: 'Deleting', facts }
}

function decideSeen(input: UpsertInput): Action {
  switch (input.observed.status) {
    case 'unseen':
      return (
        (input.recorded.upsert === undefined
          ? firstStop(input, [serviceInvalid, secretUnavailable])
          : undefined) ?? { type: 'observe', reason: 'Unobserved', facts: { why: 'not asked' } }
      )
    case 'missing':
      return decideNone(input)
    case 'found':
      return input.observed.differences.length === 0
        ? decideEqual(input)
        : decideDifferent(input, input.observed.differences)
  }
}

function decideNone(input: UpsertInput): Action {
  const { recorded, policy, gives } = input
  if (recorded.upsert === undefined)
    return { type: 'upsert', reason: 'New', takesAway: [], facts: { is: 'applied', there: 'none' } }
  if (isEdited(input))
    return {
      type: 'upsert',
      reason: 'Edited',
      takesAway: [],
      facts: { takesAway: [], gives, again: recorded.applied === undefined },
    }
  if (policy.onDrift !== 'correct')
    return { type: 'report', reason: 'Missing', differences: [], facts: { onDrift: 'report' } }
  const contest = contestOf(input, [EXISTENCE])
  return contest === undefined
    ? { type: 'upsert', reason: 'Missing', takesAway: [], facts: { onDrift: 'correct' } }
    : { type: 'report', reason: 'Contested', differences: [], facts: contest }
}

function decideEqual(input: UpsertInput): Action {
  const { recorded } = input
  if (!isEdited(input)) return { type: 'observe', reason: 'InSync', facts: { as: 'read' } }
  if (recorded.upsert !== undefined && recorded.applied === undefined)
    return { type: 'observe', reason: 'Applied', facts: undefined }
  const fields = editedFields(input)
  return recorded.upsert === undefined || fields.length === 0
    ? { type: 'observe', reason: 'Adopted', facts: { pipeId: idThere(input), isAsAsked: true } }
    : { type: 'observe', reason: 'Accepted', facts: { fields } }
}

function decideDifferent(input: UpsertInput, differences: readonly Difference[]): Action {
  const { recorded, policy, takesAway, gives, mask } = input
  const access = { takesAway: takesAway.map(mask), gives }
  if (recorded.upsert === undefined)
    return {
      type: 'upsert',
      reason: 'New',
      takesAway,
      facts: { is: 'applied', there: access },
    }
  if (isEdited(input))
    return {
      type: 'upsert',
      reason: 'Edited',
      takesAway,
      facts: { ...access, again: recorded.applied === undefined },
    }
  const fields = differences.map(({ field }) => field)
  const isOurs = input.isAsLeft || input.isOvertaken
  if (isOurs && !input.isOvertaken && !isDueAgain(input))
    return {
      type: 'report',
      reason: 'Stalled',
      differences,
      facts: { fields, now: false, again: 'in an hour' },
    }
  if (!isOurs && policy.onDrift !== 'correct')
    return { type: 'report', reason: 'Drifted', differences, facts: { fields, from: 'manifest' } }
  const contest = isOurs ? undefined : contestOf(input, fields)
  if (contest !== undefined) return { type: 'report', reason: 'Contested', differences, facts: contest }
  return {
    type: 'upsert',
    reason: 'Changing',
    takesAway,
    facts: {
      why: isOurs ? 'edited' : 'drifted',
      fields,
      by: [input.kind.operations.upsert.name],
      is: 'to be sent',
      access,
    },
  }
}

/** Stands for the whole resource among corrected fields. */
const EXISTENCE = 'existence'

export function correctedBy(action: Action): readonly string[] {
  if (action.reason === 'Missing') return [EXISTENCE]
  return action.reason === 'Changing' && action.facts.why === 'drifted' ? action.facts.fields : []
}

function isEdited({ desired, recorded }: UpsertInput): boolean {
  return (
    recorded.upsert === undefined ||
    desired.otherService ||
    desired.fingerprint?.digest !== recorded.applied?.digest
  )
}

/** Also true if the clock was set back. */
function isDueAgain({ recorded, now, isAsked }: UpsertInput): boolean {
  const at = recorded.upsert?.at ?? 0
  return isAsked === true || now - at >= AGAIN_MS || now < at
}

function idThere({ observed, mask }: UpsertInput): string {
  const id = observed.status === 'found' ? observed.there?.['id'] : undefined
  return typeof id === 'string' ? mask(id) : ''
}
