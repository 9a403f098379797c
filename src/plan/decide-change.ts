import { fieldOfPath, WAYS, type Changes, type Compared } from '../kinds/changes.ts'
import { howOftenReturned } from '../kinds/field-table.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import type { Action, Step, StopFor } from './action.ts'
import {
  isSet,
  keptBefore,
  notShownYet,
  refusedBefore,
  stalledFields,
  stoppedInVain,
} from './change-waits.ts'
import {
  attemptDigest,
  backingOff,
  dependencyNotReady,
  firstStop,
  secretUnavailable,
  serviceInvalid,
  unfound,
} from './gates.ts'
import type { CreateOnceInput } from './input.ts'
import { isAtRest, isStoppedForChange, isStopping, restStep } from './rest.ts'
import { editedFields, rotatedSecrets } from './edited.ts'
import type { FactsOf } from './reason.ts'
import type { Remote } from './record.ts'

/*
 * What is done about something that exists, where the service can change it (design §14): all that is asked for, or nothing of it. What was
 * sent and did not take effect is not sent again soon.
 */

/** A size that a create did not take is sent for so long after it: ms. */
const NEW_MS = 15 * 60_000

/** What is to be changed, and what can be. */
interface Wish {
  readonly input: CreateOnceInput
  readonly remote: Remote
  readonly changes: Changes
  readonly compared: Compared
  /** Fields of the manifest that are to be sent. */
  readonly fields: ReadonlySet<string>
  readonly why: FactsOf<'Changing'>['why']
}

/** The action for a pipe that was found; the manifest is valid. */
export function decideChange(
  input: CreateOnceInput,
  remote: Remote,
  { changes, compared }: { readonly changes: Changes; readonly compared: Compared },
): Action {
  const action = decideFields(input, remote, changes, compared)
  const isWaiting = action.reason === 'Changing' && action.facts.is === 'stopping'
  return action.type === 'update' || isWaiting ? action : (restAction(input) ?? action)
}

function decideFields(input: CreateOnceInput, remote: Remote, changes: Changes, compared: Compared): Action {
  const { desired, policy, recorded } = input
  const { key } = desired
  const differences = input.observed.status === 'found' ? input.observed.differences : []
  const pipeId = remote.id
  const edited = editedFields(input)
  if (desired.otherService)
    return {
      type: 'report',
      reason: 'NotUpdatable',
      differences,
      facts: { key, fields: ['service', ...edited], pipeId },
    }
  const drifted = [...new Set(differences.map(({ field }) => fieldOfPath(field)))]
  const kept = keptBefore(input, edited, { changes, compared })
  const open = edited.filter((field) => !kept.includes(field) && !isThere(input, field, drifted, compared))
  const rotated = rotatedSecrets(input)
  const asked = new Set([...open, ...rotated])
  const unsettled =
    asked.size === 0
      ? (notShownYet(input, drifted, { changes, compared }) ?? stalledFields(input, drifted, changes))
      : undefined
  if (unsettled !== undefined) return unsettled
  // What was sent, or half of it, and is not there, or is to be taken back: none of that is somebody else's.
  const isOurs = (field: string) => recorded.change?.fields.includes(field) === true
  const others = drifted.filter((field) => !asked.has(field))
  const corrected =
    policy.onDrift === 'correct'
      ? others
      : others.filter((field) => isOurs(field) || isOfNew(input, field, changes, compared))
  if (asked.size > 0 && policy.onEdit === 'report')
    return notSent({ input, remote, changes, compared, fields: asked, why: 'edited' }, [...asked], 'policy')
  const fields = new Set([...asked, ...corrected])
  const why =
    open.length > 0
      ? 'edited'
      : rotated.length > 0
        ? 'rotated'
        : policy.onDrift === 'correct'
          ? 'drifted'
          : drifted.some(isOurs)
            ? 'edited'
            : 'created'
  if (fields.size > 0) return decideWish({ input, remote, changes, compared, fields, why })
  if (differences.length > 0)
    return {
      type: 'report',
      reason: 'Drifted',
      differences,
      facts: { fields: differences.map(({ field }) => field), from: 'manifest' },
    }
  if (kept.length > 0)
    return {
      type: 'report',
      reason: 'Stalled',
      differences,
      facts: { fields: kept, now: false, again: 'once edited' },
    }
  return edited.length > 0
    ? { type: 'observe', reason: 'Accepted', facts: { fields: edited } }
    : { type: 'observe', reason: 'InSync', facts: { as: 'create-once' } }
}

/** Whether an edited field is as the manifest has it now: then nothing is to be sent for it. */
function isThere(
  { desired, kind, recorded }: CreateOnceInput,
  field: string,
  drifted: readonly string[],
  { observed }: Compared,
): boolean {
  const often = howOftenReturned(kind.fields, field)
  const { change } = recorded
  // Where only some of it is ever shown, as of tables, a change that was begun is enough.
  const isSame = change?.digest === (desired.fingerprint && attemptDigest(desired.fingerprint))
  const isBegun =
    change !== undefined && (isSame || (kind.changes?.needsRest(field) && change.fields.includes(field)))
  if (often === 'never' || (often === 'at times' && !isBegun)) return false
  const isTakenOut = desired.fingerprint?.fields[field] === undefined
  return isTakenOut ? !isSet(observed, field) : !drifted.includes(field)
}

/** The service was seen to leave the size out of what a create asks for. */
function isOfNew(
  { recorded, steadyNow }: CreateOnceInput,
  field: string,
  changes: Changes,
  compared: Compared,
): boolean {
  const { remote, change } = recorded
  return (
    remote?.origin === 'created' &&
    change === undefined &&
    steadyNow - remote.at < NEW_MS &&
    changes.wayOf(field, new Set([field]), compared) === 'scale'
  )
}

function decideWish(wish: Wish): Action {
  const { input, changes, compared, fields, why } = wish
  const { observed, policy, recorded, kind } = input
  const impossible = [...fields].filter((field) => changes.wayOf(field, fields, compared) === undefined)
  if (impossible.length > 0) return notSent(wish, impossible, 'no request')
  const state = observed.status === 'found' ? (observed.state ?? '') : ''
  const known = input.knownStates
  if (known?.done?.includes(state) === true) return notSent(wish, [...fields], 'done')
  const ways = WAYS.filter((way) =>
    [...fields].some((field) => changes.wayOf(field, fields, compared) === way),
  )
  const isResting = isAtRest(input)
  const isMine = isStoppedForChange(recorded)
  if (isResting && !isMine && policy.paused === undefined && ways.includes('update'))
    return notSent(wish, [...fields], 'at rest')
  const steps = ways.map((way): Step => ({ way, body: changes.request(way, fields, compared) }))
  const needsSecrets = steps.some(({ body }) => secretRefsIn(body).length > 0)
  const stop = firstStop(input, [
    unfound,
    refusedBefore,
    backingOff,
    serviceInvalid,
    dependencyNotReady,
    ...(needsSecrets ? [secretUnavailable] : []),
  ])
  if (stop !== undefined) return stop
  const named = [...fields].toSorted()
  const by = ways.flatMap((way) => kind.operations[way]?.name ?? [])
  const isFollowed = changes.isFollowed(fields, compared)
  const facts = (is: FactsOf<'Changing'>['is']) => ({
    why,
    fields: named,
    by,
    is,
    ...(isFollowed && { loadsAgain: true as const }),
  })
  const needsRest = [...fields].some((field) => changes.needsRest(field)) && !isResting
  if (isStopping(input) && (needsRest || isMine))
    return { type: 'observe', reason: 'Changing', facts: facts('stopping') }
  const before = needsRest ? stoppedInVain(input) : undefined
  if (before !== undefined) return before
  if (needsRest) {
    const stopFor: StopFor = policy.paused === true ? 'rest' : 'change'
    return {
      type: 'update',
      reason: 'Changing',
      steps: [{ way: 'state', body: { command: 'stop' } }],
      isWhole: false,
      stopFor,
      facts: { ...facts('to be stopped first'), by: [kind.operations.state?.name ?? '', ...by] },
    }
  }
  return {
    type: 'update',
    reason: 'Changing',
    steps,
    isWhole: !isFollowed,
    stopFor: undefined,
    facts: facts('to be sent'),
  }
}

/** Nothing is sent, because of these fields. */
function notSent(
  { input, remote, why: cause }: Wish,
  named: readonly string[],
  why: NonNullable<FactsOf<'NotUpdatable'>['why']>,
): Action {
  const differences = input.observed.status === 'found' ? input.observed.differences : []
  const fields = named.toSorted()
  const facts = { key: input.desired.key, fields, pipeId: remote.id, why }
  if (cause === 'drifted' || cause === 'created')
    return { type: 'report', reason: 'Drifted', differences, facts: { fields, from: 'manifest' } }
  const rotated = rotatedSecrets(input)
  const isOfSecrets = fields.every((field) => rotated.includes(field))
  return { type: 'report', reason: isOfSecrets ? 'SecretRotated' : 'NotUpdatable', differences, facts }
}

/** What is to be started or stopped, whatever its fields say. */
export function restAction(input: CreateOnceInput): Action | undefined {
  const rest = restStep(input)
  if (rest === undefined) return undefined
  // It was found, so there is a service that can be asked, whatever its manifest says now.
  const stop = firstStop(input, [unfound, backingOff])
  if (stop !== undefined) return stop
  const { command, why, isSent } = rest
  const by = [input.kind.operations.state?.name ?? '']
  const facts = { why, fields: [], by }
  if (isSent) return { type: 'observe', reason: 'Changing', facts: { ...facts, is: 'not seen yet' } }
  return {
    type: 'update',
    reason: 'Changing',
    steps: [{ way: 'state', body: { command } }],
    isWhole: false,
    stopFor: command === 'stop' ? 'rest' : undefined,
    facts: { ...facts, is: 'to be sent' },
  }
}
