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
  waitsForRest,
} from './change-waits.ts'
import {
  attemptDigest,
  backingOff,
  becauseOfMissing,
  createLimitReached,
  dependencyNotReady,
  firstStop,
  secretUnavailable,
  serviceInvalid,
  unfound,
} from './gates.ts'
import type { CreateOnceInput } from './input.ts'
import { replacedBy } from './decide-deletion.ts'
import {
  commandFate,
  isAtRest,
  isLoading,
  isStoppedForChange,
  loadingFacts,
  isStopping,
  restStep,
  unheeded,
} from './rest.ts'
import { editedFields, rotatedSecrets } from './edited.ts'
import { IDS_SHOWN, listedFirst } from './listed.ts'
import { isOfNew } from './new-size.ts'
import type { FactsOf } from './reason.ts'
import type { RemovalWords } from './reasons/removal-words.ts'
import type { Remote } from './record.ts'

/*
 * What is done about something that exists, where the service can change it (design §14): all that is asked for, or nothing of it. What was
 * sent and did not take effect is not sent again soon.
 */

/** What is to be changed, and what can be. */
interface Wish {
  readonly input: CreateOnceInput
  readonly remote: Remote
  readonly changes: Changes
  readonly compared: Compared
  /** Fields of the manifest that are to be sent. */
  readonly fields: ReadonlySet<string>
  /** Those of them that were edited; a secret that has another value was not. */
  readonly edited: readonly string[]
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
  if (action.type === 'update' || action.type === 'delete' || isWaiting) return action
  const rest = restAction(input)
  if (rest === undefined) return action
  // Its ten minutes begin before it is started again, which may fail for longer.
  return isNewReplacement(input, action) ? { ...action, until: input.now } : rest
}

function isNewReplacement(
  { recorded, desired }: CreateOnceInput,
  action: Action,
): action is Action & { readonly type: 'hold' } {
  const isNew = recorded.removal?.digest !== desired.fingerprint?.digest
  return isNew && action.type === 'hold' && action.reason === 'Replacing'
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
      : others.filter((field) => isOurs(field) || isOfNew(input, field, { changes, compared }))
  if (asked.size > 0 && policy.onEdit === 'report')
    return notSent(
      { input, remote, changes, compared, fields: asked, edited: open, why: 'edited' },
      [...asked],
      'policy',
    )
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
  if (fields.size > 0) return decideWish({ input, remote, changes, compared, fields, edited: open, why })
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
  compared: Compared,
): boolean {
  const { observed } = compared
  const often = howOftenReturned(kind.fields, field)
  const { change } = recorded
  // Where only some of it is ever shown, as of tables, a change that was begun is enough.
  const isSame = change?.digest === (desired.fingerprint && attemptDigest(desired.fingerprint))
  const isBegun =
    change !== undefined && (isSame || (kind.changes?.needsRest(field) && change.fields.includes(field)))
  if (often === 'never' || (often === 'at times' && !isBegun)) return false
  const isTakenOut = desired.fingerprint?.fields[field] === undefined
  if (isTakenOut) return !isSet(observed, field)
  return !drifted.includes(field) && kind.changes?.isLeft(field, compared) !== true
}

function decideWish(wish: Wish): Action {
  const { input, changes, compared, fields, why } = wish
  const { observed, policy, recorded, kind } = input
  const impossible = [...fields].filter((field) => changes.wayOf(field, fields, compared) === undefined)
  if (impossible.length > 0) return replacedOr(wish, impossible, 'no request')
  const state = observed.status === 'found' ? (observed.state ?? '') : ''
  const known = input.knownStates
  if (known?.done?.includes(state) === true) return replacedOr(wish, [...fields], 'done')
  const ways = WAYS.filter((way) =>
    [...fields].some((field) => changes.wayOf(field, fields, compared) === way),
  )
  const isResting = isAtRest(input)
  const isMine = isStoppedForChange(recorded)
  if (isResting && !isMine && policy.paused === undefined && ways.includes('update'))
    return notSent(wish, [...fields], 'at rest')
  const steps = ways.map((way): Step => ({ way, body: changes.request(way, fields, compared) }))
  const stop = firstStop(input, [
    unfound,
    refusedBefore,
    backingOff,
    serviceInvalid,
    dependencyNotReady,
    (asked) => sentSecretUnavailable(asked, steps),
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
  const needsRest =
    !isResting && (waitsForRest(input) || [...fields].some((field) => changes.needsRest(field)))
  const fate = needsRest || (isMine && isStopping(input)) ? commandFate(input, 'stop') : undefined
  if (fate === 'waited for') return { type: 'observe', reason: 'Changing', facts: facts('stopping') }
  const inVain = fate === 'unheeded' ? stalled(input) : undefined
  if (inVain !== undefined) return inVain
  if (needsRest && isLoading(input))
    return {
      type: 'observe',
      reason: 'Changing',
      facts: { ...facts('loading'), loading: loadingFacts(input) },
    }
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

/** It is replaced where its manifest was edited and says so, nothing stands in the way of a new one, and all is there that it needs. */
function replacedOr(
  wish: Wish,
  named: readonly string[],
  why: NonNullable<FactsOf<'NotUpdatable'>['why']>,
): Action {
  const { input, remote, fields, edited } = wish
  const kept = (isKept: RemovalWords) => notSent(wish, named, why, isKept)
  const asking = named.filter((field) => edited.includes(field)).toSorted()
  const action = asking.length > 0 ? replacedBy(input, remote, { fields: asking, kept }) : undefined
  if (action === undefined) return notSent(wish, named, why)
  if (action.type === 'report') return action
  // The new one would run.
  if (isStoppedByAnother(input)) return notSent(wish, [...fields], 'at rest')
  const taken = takenBy(input)
  if (taken !== undefined) return kept(taken)
  if (action.type !== 'delete') return action
  const gates = [serviceInvalid, listedFirst, dependencyNotReady, secretUnavailable, createLimitReached]
  return firstStop(input, gates) ?? action
}

/** It rests, or will, and neither its manifest nor a change of ours has asked for that. */
function isStoppedByAnother(input: CreateOnceInput): boolean {
  const { policy, recorded } = input
  const isOurs = policy.paused !== undefined || recorded.command?.isForChange === true
  return !isOurs && (isAtRest(input) || isStopping(input))
}

/** What a new one would be taken for: it would not be created. */
function takenBy({ surroundings: { similar, listed } }: CreateOnceInput): RemovalWords | undefined {
  if (similar !== undefined) return { is: 'taken', key: similar.key }
  const ids = listed?.candidates.slice(0, IDS_SHOWN).map(({ id }) => id) ?? []
  return listed === undefined || ids.length === 0 ? undefined : { is: 'listed', name: listed.name, ids }
}

/** Of secrets that cannot be read, those count that are to be sent. */
function sentSecretUnavailable(
  { surroundings: { missingAt } }: CreateOnceInput,
  steps: readonly Step[],
): Action | undefined {
  const refs = steps.flatMap(({ body }) => secretRefsIn(body))
  const missing = new Map(
    refs.flatMap(({ path }) => {
      const one = missingAt.get(path)
      return one === undefined ? [] : [[one.file, one]]
    }),
  )
  return missing.size === 0 ? undefined : { type: 'refuse', ...becauseOfMissing([...missing.values()]) }
}

/** Nothing is sent, because of these fields. */
function notSent(
  { input, remote, why: cause }: Wish,
  named: readonly string[],
  why: NonNullable<FactsOf<'NotUpdatable'>['why']>,
  kept?: RemovalWords,
): Action {
  const differences = input.observed.status === 'found' ? input.observed.differences : []
  const fields = named.toSorted()
  const facts = { key: input.desired.key, fields, pipeId: remote.id, why, kept }
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
  const { command, why, fate } = rest
  const by = [input.kind.operations.state?.name ?? '']
  const facts = { why, fields: [], by }
  if (fate === 'waited for')
    return { type: 'observe', reason: 'Changing', facts: { ...facts, is: 'not seen yet' } }
  if (fate === 'unheeded') return stalled(input)
  return {
    type: 'update',
    reason: 'Changing',
    steps: [{ way: 'state', body: { command } }],
    isWhole: false,
    stopFor: command === 'stop' ? 'rest' : undefined,
    facts: { ...facts, is: 'to be sent' },
  }
}

/** A command that was sent is not heeded. */
function stalled(input: CreateOnceInput): Action | undefined {
  const because = unheeded(input)
  const differences = input.observed.status === 'found' ? input.observed.differences : []
  return because && { type: 'report', ...because, differences }
}
