import { WAYS } from '../kinds/changes.ts'
import { secretRefsIn } from '../kinds/secret-ref.ts'
import type { Action, ChangeStep, StopFor } from './action.ts'
import {
  interruptedFields,
  isJustSent,
  notSeen,
  refusedBefore,
  stoppedInVain,
  waitsForRest,
} from './change-waits.ts'
import {
  backingOff,
  claimedFirst,
  createLimitReached,
  dependencyNotReady,
  findBlocker,
  secretUnavailable,
  serviceInvalid,
  unfound,
} from './gates.ts'
import { differencesIn, stateIn, type ChangeContext, type CreateOnceInput } from './input.ts'
import { replacedBy } from './decide-deletion.ts'
import {
  commandFate,
  isAtRest,
  isLoading,
  isStoppedByUs,
  isStoppedForChange,
  loadingFacts,
  isStopping,
} from './run-state.ts'
import { rotatedSecrets } from './edited.ts'
import { IDS_SHOWN, listedFirst } from './listed.ts'
import type { FactsOf } from './reason.ts'
import type { RemovalWords } from './reasons/removal-words.ts'
import type { Remote } from './record.ts'
import { stalled } from './start-stop.ts'

interface UpdateParts extends ChangeContext {
  readonly input: CreateOnceInput
  readonly remote: Remote
  readonly fields: ReadonlySet<string>
  readonly edited: readonly string[]
  readonly corrected: readonly string[]
  readonly why: FactsOf<'Changing'>['why']
}

export function decideUpdate(update: UpdateParts): Action {
  const { input, changes, compared, fields, corrected, why } = update
  const { observed, policy, recorded, kind } = input
  const impossible = [...fields].filter((field) => changes.wayOf(field, fields, compared) === undefined)
  if (impossible.length > 0) return replacedOr(update, impossible, 'no request')
  const state = stateIn(observed) ?? ''
  const known = input.knownStates
  if (known?.done?.includes(state) === true) return replacedOr(update, [...fields], 'done')
  const ways = WAYS.filter((way) =>
    [...fields].some((field) => changes.wayOf(field, fields, compared) === way),
  )
  const isResting = isAtRest(input)
  const isMine = isStoppedForChange(recorded)
  if (isResting && !isMine && policy.paused === undefined && ways.includes('update'))
    return reportUnsent(update, [...fields], 'at rest')
  const steps = ways.map((way): ChangeStep => ({ way, body: changes.request(way, fields, compared) }))
  const stop = findBlocker(input, [
    unfound,
    claimedFirst,
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
  if (isFollowed && isJustSent(input, 'isHalfSent')) return notSeen(input, named, changes)
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
    return { type: 'observe', reason: 'Changing', facts: { ...facts('loading'), ...loadingFacts(input) } }
  if (needsRest) {
    const before = stoppedInVain(input)
    if (before !== undefined) return before
    const stopFor: StopFor = policy.paused === true ? 'rest' : 'change'
    return {
      type: 'update',
      reason: 'Changing',
      steps: [{ way: 'state', body: { command: 'stop' } }],
      isWhole: false,
      stopFor,
      corrects: corrected,
      facts: { ...facts('to be stopped first'), by: [kind.operations.state?.name ?? '', ...by] },
    }
  }
  return {
    type: 'update',
    reason: 'Changing',
    steps,
    isWhole: !isFollowed,
    stopFor: undefined,
    corrects: corrected,
    facts: facts('to be sent'),
  }
}

function replacedOr(
  update: UpdateParts,
  named: readonly string[],
  why: NonNullable<FactsOf<'NotUpdatable'>['why']>,
): Action {
  const { input, remote, fields, edited } = update
  const kept = (isKept: RemovalWords) => reportUnsent(update, named, why, isKept)
  const asking = named.filter((field) => edited.includes(field)).toSorted()
  const action = asking.length > 0 ? replacedBy(input, remote, { fields: asking, kept }) : undefined
  if (action === undefined) return reportUnsent(update, named, why)
  if (action.type === 'report') return action
  if (isStoppedByAnother(input)) return reportUnsent(update, [...fields], 'at rest')
  const taken = takenBy(input)
  if (taken !== undefined) return kept(taken)
  if (action.type !== 'delete') return action
  const gates = [serviceInvalid, listedFirst, dependencyNotReady, secretUnavailable, createLimitReached]
  return findBlocker(input, gates) ?? action
}

function isStoppedByAnother(input: CreateOnceInput): boolean {
  const { policy, recorded } = input
  const isOurs = policy.paused !== undefined || isStoppedByUs(recorded)
  return !isOurs && (isAtRest(input) || isStopping(input))
}

function takenBy({ surroundings: { similar, listed } }: CreateOnceInput): RemovalWords | undefined {
  if (similar !== undefined) return { is: 'taken', key: similar.key }
  const ids = listed?.candidates.slice(0, IDS_SHOWN).map(({ id }) => id) ?? []
  return listed === undefined || ids.length === 0 ? undefined : { is: 'listed', name: listed.name, ids }
}

function sentSecretUnavailable(
  { surroundings: { missingAt } }: CreateOnceInput,
  steps: readonly ChangeStep[],
): Action | undefined {
  const refs = steps.flatMap(({ body }) => secretRefsIn(body))
  const found = refs.flatMap(({ path }) => missingAt.get(path) ?? [])
  const missing = [...new Map(found.map((one) => [one.file, one])).values()]
  return missing.length === 0
    ? undefined
    : { type: 'refuse', reason: 'SecretUnavailable', facts: { missing } }
}

export function reportUnsent(
  { input, remote, why: cause }: UpdateParts,
  named: readonly string[],
  why: NonNullable<FactsOf<'NotUpdatable'>['why']>,
  kept?: RemovalWords,
): Action {
  const differences = differencesIn(input.observed)
  const fields = named.toSorted()
  const begun = interruptedFields(input.recorded)
  const earlier = begun.length === 0 ? undefined : begun
  const facts = { key: input.desired.key, fields, pipeId: remote.id, why, kept, begun: earlier }
  if (cause === 'drifted' || cause === 'created')
    return { type: 'report', reason: 'Drifted', differences, facts: { fields, from: 'manifest' } }
  const rotated = rotatedSecrets(input)
  const isOfSecrets = fields.every((field) => rotated.includes(field))
  return { type: 'report', reason: isOfSecrets ? 'SecretRotated' : 'NotUpdatable', differences, facts }
}
