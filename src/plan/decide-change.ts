import { fieldOfPath, type Changes, type Compared } from '../kinds/changes.ts'
import { howOftenReturned } from '../kinds/field-table.ts'
import type { Action } from './action.ts'
import {
  interruptedFields,
  isJustSent,
  isSet,
  keptBefore,
  notShownYet,
  stalledFields,
} from './change-waits.ts'
import { contestOf, reportContest } from './corrections.ts'
import { attemptDigest, reportDrift } from './gates.ts'
import { differencesIn, type ChangeContext, type CreateOnceInput } from './input.ts'
import { editedFields, isEdited, isSameSecret, rotatedSecrets } from './edited.ts'
import { isOfNew } from './new-size.ts'
import type { Remote } from './record.ts'
import { decideUpdate, reportUnsent } from './decide-update.ts'
import { decideStartStop } from './start-stop.ts'
import { firstValues, notVerified } from './unverified.ts'

/* An edit is sent completely or not at all. A change without effect is repeated after an hour. */

export function decideChange(
  input: CreateOnceInput,
  remote: Remote,
  { changes, compared }: ChangeContext,
): Action {
  const action = decideFields(input, remote, changes, compared)
  const isWaiting = action.reason === 'Changing' && action.facts.is === 'stopping'
  if (action.type === 'update' || action.type === 'delete' || isWaiting) return action
  const rest = decideStartStop(input)
  if (rest === undefined) return action
  // Starts the wait before a replacement immediately, because a start or stop can fail long.
  return isNewReplacement(input, action) ? { ...action, until: input.now } : rest
}

function isNewReplacement(
  { recorded, desired }: CreateOnceInput,
  action: Action,
): action is Action & { readonly type: 'hold' } {
  const isNew = recorded.removal?.digest !== desired.fingerprint?.digest
  return (
    isNew && action.type === 'hold' && action.reason === 'Deleting' && action.facts.removal.is === 'later'
  )
}

function decideFields(input: CreateOnceInput, remote: Remote, changes: Changes, compared: Compared): Action {
  const { desired, policy, recorded, added = [] } = input
  const differences = differencesIn(input.observed)
  const edited = editedFields(input)
  if (desired.otherService)
    return {
      type: 'report',
      reason: 'NotUpdatable',
      differences,
      facts: { key: desired.key, fields: ['service', ...edited], pipeId: remote.id, why: 'service' },
    }
  const drifted = [...new Set(differences.map(({ field }) => fieldOfPath(field)))]
  const kept = keptBefore(input, edited, { changes, compared })
  const isSent = (field: string) => kept.includes(field) || isSameSecret(input, field)
  const open = edited.filter((field) => !isSent(field) && !isThere(input, field, drifted, compared))
  const interrupted = interruptedFields(recorded)
  // An undone edit might have changed hidden fields.
  const unsure = interrupted.filter(
    (field) => isSet(compared.desired, field) && !isSet(compared.observed, field),
  )
  const rotated = rotatedSecrets(input)
  const first = firstValues(input, { changes, compared })
  const asked = new Set([...open, ...unsure, ...rotated, ...first])
  const unsettled =
    asked.size === 0
      ? (notShownYet(input, drifted, { changes, compared }) ?? stalledFields(input, drifted, changes))
      : undefined
  if (unsettled !== undefined) return unsettled
  // Sent by Pipewright, so a difference is no drift.
  const isOurs = (field: string) => recorded.change?.fields.includes(field) === true
  const others = drifted.filter((field) => !asked.has(field) && !(isJustSent(input) && isOurs(field)))
  const toCorrect =
    policy.onDrift === 'correct'
      ? others
      : others.filter((field) => isOurs(field) || isOfNew(input, field, { changes, compared }))
  const contest = contestOf(
    input,
    toCorrect.filter((field) => !interrupted.includes(field)),
  )
  // If another writer keeps changing a field, fields that need the same request are not corrected.
  const wayOf = (field: string) => changes.wayOf(field, new Set([...asked, ...toCorrect]), compared)
  const heldWays = new Set(contest?.fields.map(wayOf))
  const corrected = toCorrect.filter((field) => !heldWays.has(wayOf(field)))
  const parts = { input, remote, changes, compared, edited: open }
  if (asked.size > 0 && policy.onEdit === 'report')
    return reportUnsent({ ...parts, fields: asked, corrected: [], why: 'edited' }, [...asked], 'policy')
  const fields = new Set([...asked, ...corrected])
  const why =
    open.length + unsure.length > 0
      ? 'edited'
      : rotated.length > 0
        ? 'rotated'
        : first.length > 0
          ? 'unverified'
          : policy.onDrift === 'correct'
            ? 'drifted'
            : drifted.some(isOurs)
              ? 'edited'
              : 'created'
  if (fields.size > 0) return decideUpdate({ ...parts, fields, corrected, why })
  if (contest !== undefined) return reportContest(differences, contest)
  if (differences.length > 0) return reportDrift(differences, 'manifest')
  if (added.length > 0)
    return { type: 'report', reason: 'Drifted', differences, facts: { fields: added, from: 'manifest' } }
  if (kept.length > 0)
    return { type: 'report', reason: 'Stalled', differences, facts: { fields: kept, again: 'once edited' } }
  return isEdited(input)
    ? { type: 'observe', reason: 'InSync', facts: { as: 'create-once', accepted: edited } }
    : (notVerified(input) ?? { type: 'observe', reason: 'InSync', facts: { as: 'create-once' } })
}

function isThere(
  { desired, kind, recorded }: CreateOnceInput,
  field: string,
  drifted: readonly string[],
  compared: Compared,
): boolean {
  const often = howOftenReturned(kind.fields, field)
  const { change } = recorded
  const isSame = change?.digest === (desired.fingerprint && attemptDigest(desired.fingerprint))
  const isOfTables = kind.changes?.needsRest(field) === true && change?.fields.includes(field) === true
  const isTakenOut = desired.fingerprint?.fields[field] === undefined
  if (often === 'never' || (often === 'at times' && !isSame && !isOfTables)) return false
  if (isTakenOut) return !isSet(compared.observed, field)
  return !drifted.includes(field) && kind.changes?.isLeft(field, compared) !== true
}
