import type { Difference } from '../kinds/difference.ts'
import type { Action } from './action.ts'
import { CORRECTION_BACKOFF, contestOf, reportContest } from './corrections.ts'
import { decideAbsentUpsert, sentDeletionFirst } from './decide-deletion.ts'
import { editedFields } from './edited.ts'
import {
  backingOff,
  dependencyNotReady,
  findBlocker,
  invalid,
  manifestMissing,
  orphaned,
  secretUnavailable,
  serviceInvalid,
  suspended,
  unfound,
} from './gates.ts'
import type { UpsertInput } from './input.ts'
import type { FactsOf } from './reason.ts'
import type { LedgerRecord } from './record.ts'

export function decideRead(input: UpsertInput): Action {
  const stop = findBlocker(input, [manifestMissing, suspended, deletedBefore, orphaned, invalid])
  if (stop !== undefined) return stop
  if (input.policy.ensure === 'absent') return decideAbsentUpsert(input)
  const action = decideSeen(input)
  if (action.type !== 'upsert') return action
  const gates = [unfound, backingOff, dependencyNotReady, serviceInvalid, secretUnavailable]
  return findBlocker(input, gates) ?? action
}

function deletedBefore(input: UpsertInput): Action | undefined {
  const isUnwanted = input.desired.state === 'absent' || input.policy.ensure === 'absent'
  return isUnwanted ? sentDeletionFirst(input) : undefined
}

function decideSeen(input: UpsertInput): Action {
  switch (input.observed.status) {
    case 'unseen':
      return (
        (input.recorded.upsert === undefined
          ? findBlocker(input, [serviceInvalid, secretUnavailable])
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
  if (recorded.upsert === undefined || recorded.removal?.isSent === true)
    return { type: 'upsert', reason: 'New', takesAway: [], facts: { is: 'applied', there: 'none' } }
  if (isEdited(input))
    return {
      type: 'upsert',
      reason: 'Changing',
      takesAway: [],
      facts: applyFacts(recorded, { takesAway: [], gives }),
    }
  if (policy.onDrift !== 'correct')
    return { type: 'report', reason: 'Missing', differences: [], facts: { onDrift: 'report' } }
  const contest = contestOf(input, [EXISTENCE])
  return contest === undefined
    ? { type: 'upsert', reason: 'Missing', takesAway: [], facts: { onDrift: 'correct' } }
    : reportContest([], contest)
}

function decideEqual(input: UpsertInput): Action {
  const { recorded } = input
  if (!isEdited(input)) return { type: 'observe', reason: 'InSync', facts: { as: 'read' } }
  if (recorded.upsert !== undefined && recorded.applied === undefined)
    return { type: 'observe', reason: 'Applied', facts: undefined }
  const fields = editedFields(input)
  return recorded.upsert === undefined || fields.length === 0
    ? { type: 'observe', reason: 'Adopted', facts: { pipeId: idThere(input), isAsAsked: true } }
    : { type: 'observe', reason: 'InSync', facts: { as: 'read', accepted: fields } }
}

function decideDifferent(input: UpsertInput, differences: readonly Difference[]): Action {
  const { recorded, policy, takesAway, gives, mask } = input
  const access = { takesAway: takesAway.map(mask), gives }
  if (recorded.upsert === undefined)
    return { type: 'upsert', reason: 'New', takesAway, facts: { is: 'applied', there: access } }
  if (isEdited(input))
    return { type: 'upsert', reason: 'Changing', takesAway, facts: applyFacts(recorded, access) }
  const fields = differences.map(({ field }) => field)
  const isOurs = input.isAsLeft || input.isOvertaken
  if (isOurs && !input.isOvertaken && !isDueAgain(input))
    return { type: 'report', reason: 'Stalled', differences, facts: { fields, again: 'in an hour' } }
  if (!isOurs && policy.onDrift !== 'correct')
    return { type: 'report', reason: 'Drifted', differences, facts: { fields, from: 'manifest' } }
  const contest = isOurs ? undefined : contestOf(input, fields)
  if (contest !== undefined) return reportContest(differences, contest)
  return {
    type: 'upsert',
    reason: 'Changing',
    takesAway,
    facts: {
      why: input.isOvertaken ? 'unknown' : isOurs ? 'edited' : 'drifted',
      fields,
      by: [input.kind.operations.upsert.name],
      is: 'to be sent',
      access,
    },
  }
}

function applyFacts({ applied }: LedgerRecord, access: FactsOf<'Changing'>['access']): FactsOf<'Changing'> {
  const why = applied === undefined ? 'unknown' : 'edited'
  return { why, fields: [], by: [], is: 'to be applied', access }
}

/** The correction of a missing resource is counted under this name. */
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

/** `now < at`: the clock was set back. */
function isDueAgain({ recorded, now, isAsked }: UpsertInput): boolean {
  const at = recorded.upsert?.at ?? 0
  return isAsked === true || now - at >= CORRECTION_BACKOFF.firstMs || now < at
}

function idThere({ observed, mask }: UpsertInput): string {
  const id = observed.status === 'found' ? observed.there?.['id'] : undefined
  return typeof id === 'string' ? mask(id) : ''
}
