import type { Action } from './action.ts'
import { deletionTarget, DELETES_MS, graceSince, sentSince } from './deletion-mark.ts'
import { backingOff, findBlocker, serviceInvalid, unfound } from './gates.ts'
import {
  differencesIn,
  type CreateOnceInput,
  type DecideInput,
  type DeletionFacts,
  type UpsertInput,
} from './input.ts'
import { sameId } from '../lib/same-id.ts'
import { isMissingConfirmed, isDeleted, wasGivenUp } from './missing.ts'
import { isSaidGone, massMissing, unwitnessed } from './missing-gates.ts'
import type { Because, FactsOf } from './reason.ts'
import type { RemovalWords } from './reasons/removal-words.ts'
import type { Remote } from './record.ts'

/*
 * A deletion needs `policy.ensure: absent`, or `policy.onImmutable: replace` with an edit that needs a new pipe. A sent
 * deletion is followed to its end, even if the manifest changes.
 */

/** Wait before a deletion. In this time, the manifest can withdraw it. */
const GRACE_MS = 10 * 60_000
const ANSWERED_MS = 60_000
const SOONEST_LOOK_MS = 2_000
const LATEST_LOOK_MS = 31_000

const ABSENT: Action = { type: 'observe', reason: 'Absent', facts: undefined }

export function absent({ policy, surroundings }: CreateOnceInput): Action | undefined {
  const isToMove = surroundings.similar?.how === 'renamed-from'
  return policy.ensure === 'absent' && !isToMove ? ABSENT : undefined
}

type Deletable = CreateOnceInput | UpsertInput

export function decideAbsent(input: Deletable): Action {
  const { removal } = input
  if (removal === undefined) throw new Error(`${input.desired.key} cannot be deleted`)
  if (isWaitedFor(input)) return decideSent(input)
  const because = becauseOf(input, { why: 'ensure', fields: [] })
  const stop = findBlocker(input, [otherService, unfound, serviceInvalid])
  return stop ?? decideDeletion(input, { removal, because, kept: (fields) => drifted(input, fields) })
}

export function decideAbsentUpsert(input: UpsertInput): Action {
  if (input.recorded.upsert !== undefined) return decideAbsent(input)
  return input.observed.status === 'found'
    ? { type: 'report', reason: 'Drifted', differences: [], facts: { fields: [], from: 'unrecorded' } }
    : ABSENT
}

export function replacedBy(
  input: CreateOnceInput,
  remote: Remote,
  { fields, kept }: { readonly fields: readonly string[]; readonly kept: (removal: RemovalWords) => Action },
): Action | undefined {
  const { policy, removal } = input
  if (policy.onImmutable !== 'replace' || removal === undefined) return undefined
  if (remote.origin !== 'created') return kept({ is: 'not ours' })
  const { foreign } = remote
  if (foreign !== undefined) return kept({ is: 'changed', fields: foreign })
  const changed = (names: readonly string[] | undefined): Action =>
    kept(names === undefined ? { is: 'never in sync' } : { is: 'changed', fields: names })
  const because = becauseOf(input, { why: 'edited', fields })
  return serviceInvalid(input) ?? decideDeletion(input, { removal, because, kept: changed })
}

export function sentDeletionFirst(input: Deletable): Action | undefined {
  const { observed, desired } = input
  if (!isWaitedFor(input)) return undefined
  if (observed.status === 'missing' && desired.state !== 'absent') return undefined
  return decideSent(input)
}

/** Follows a sent deletion until 404s confirm that the pipe is gone. */
export function goneUnconfirmed(input: CreateOnceInput): Action | undefined {
  const { remote } = input.recorded
  if (remote === undefined || input.observed.status !== 'missing' || isGone(input)) return undefined
  return decideSent(input)
}

function decideSent(input: Deletable): Action {
  const { policy, desired, recorded, now, steadyNow, observed } = input
  const sentAt = recorded.removal === undefined ? 0 : sentSince(recorded.removal, steadyNow)
  const why = desired.state === 'absent' ? 'removed' : policy.ensure === 'absent' ? 'ensure' : 'back'
  const because = becauseOf(input, { why, fields: [] })
  if (isGone(input) && !mightBeListed(input)) return { type: 'delete', ...because({ is: 'done' }) }
  const going = because({ is: 'going', at: sentAt })
  if (!isGone(input) && isToAskAgain(input))
    return findBlocker(input, [unfound, serviceInvalid, backingOff]) ?? { type: 'delete', ...going }
  const lookMs =
    observed.status === 'missing'
      ? LATEST_LOOK_MS
      : Math.min(Math.max(SOONEST_LOOK_MS, steadyNow - sentAt), LATEST_LOOK_MS)
  return { type: 'hold', until: now + lookMs, ...going }
}

function isGone({ observed, recorded }: Deletable): boolean {
  return observed.status === 'missing' && isDeleted(observed.misses, observed.isAlone, recorded.removal)
}

function isWaitedFor({ recorded: { removal }, observed, steadyNow }: Deletable): boolean {
  if (removal?.isSent !== true) return false
  return observed.status === 'missing' || steadyNow - sentSince(removal, steadyNow) < DELETES_MS
}

/** Whether to send the deletion again, because a success proves the deletion sooner than 404s do. */
function isToAskAgain(input: Deletable): boolean {
  const { observed, desired, removal, steadyNow } = input
  const mark = input.recorded.removal
  if (observed.status !== 'missing' || mark?.isSent !== true || mark.isAnswered === true) return false
  if (removal === undefined || steadyNow - sentSince(mark, steadyNow) < ANSWERED_MS) return false
  const wish = desired.state === 'valid' ? deletionTarget(input) : undefined
  const isOurs = input.recorded.remote?.origin === 'created' || wish === 'absent'
  const isStillAsked = wish !== undefined && mark.digest === wish && isOurs
  return isStillAsked && doubtOf(input) === undefined && removal.claimant === undefined
}

function decideDeletion(
  input: Deletable,
  {
    removal,
    because,
    kept,
  }: {
    readonly removal: DeletionFacts
    readonly because: (removal: RemovalWords) => Because<'Deleting'>
    /** The action that keeps the pipe. @param fields changed since it was in sync, undefined if it never was */
    readonly kept: (fields: readonly string[] | undefined) => Action
  },
): Action {
  const { recorded, observed, steadyNow, now } = input
  const hold = (is: RemovalWords, until?: number): Action => ({ type: 'hold', until, ...because(is) })
  const { claimant, limit, isAllowed } = removal
  const doubt = doubtOf(input)
  if (doubt !== undefined) return hold({ is: doubt })
  if (claimant !== undefined) return hold({ is: 'claimed', key: claimant })
  const { lockedId } = input.surroundings
  if (lockedId !== undefined && !sameId(lockedId, recorded.remote?.id) && !wasGivenUp(recorded, lockedId))
    return hold({ is: 'locked' })
  if (limit !== undefined) return { type: 'refuse', reason: 'DeleteLimit', facts: limit }
  const changed = observed.status === 'found' ? changedFields(input) : []
  if (changed === undefined || changed.length > 0) return kept(changed)
  const at = graceSince(recorded.removal, deletionTarget(input), { steadyNow, isAllowed }) + GRACE_MS
  if (at > steadyNow) return hold({ is: 'later', at }, now + at - steadyNow)
  switch (observed.status) {
    case 'unseen':
      return backingOff(input) ?? hold({ is: 'later', at }, now + LATEST_LOOK_MS)
    case 'found':
      return findBlocker(input, [unfound, backingOff]) ?? { type: 'delete', ...because({ is: 'now' }) }
    case 'missing': {
      const isSaid = recorded.remote !== undefined && isSaidGone(input, recorded.remote)
      const isProved = isSaid || isMissingConfirmed(observed.misses, observed.isAlone)
      if (!isProved || mightBeListed(input))
        return (
          (isProved ? undefined : unwitnessed(observed)) ?? hold({ is: 'not found' }, now + LATEST_LOOK_MS)
        )
      return (
        (isSaid ? undefined : massMissing(input)) ?? { type: 'delete', ...because({ is: 'gone already' }) }
      )
    }
  }
}

function changedFields(input: Deletable): readonly string[] | undefined {
  const fields = differencesIn(input.observed).map(({ field }) => field)
  if (input.lifecycle === 'create-once')
    return input.changedSince ?? (input.policy.ensure === 'absent' ? fields : undefined)
  if (input.isAsLeft) return []
  return fields.length > 0 ? fields : undefined
}

function mightBeListed(input: Deletable): boolean {
  return input.lifecycle === 'create-once' && input.mightBeListed === true
}

function doubtOf({ surroundings }: DecideInput): 'older' | 'doubted' | 'twice' | 'unread' | undefined {
  if (surroundings.olderThan !== undefined) return 'older'
  if (surroundings.isDoubted) return 'doubted'
  if (surroundings.hasTwins) return 'twice'
  return surroundings.isPartlyRead ? 'unread' : undefined
}

function otherService(input: DecideInput): Action | undefined {
  return input.desired.otherService ? drifted(input, ['service']) : undefined
}

function drifted({ observed }: DecideInput, fields: readonly string[] = []): Action {
  const differences = differencesIn(observed)
  return { type: 'report', reason: 'Drifted', differences, facts: { fields, from: 'ensure' } }
}

function becauseOf(
  input: DecideInput,
  facts: Pick<FactsOf<'Deleting'>, 'why' | 'fields'>,
): (removal: RemovalWords) => Because<'Deleting'> {
  const staysBehind = input.lifecycle === 'create-once' ? input.kind.staysBehind : undefined
  const pipeId = input.recorded.remote?.id
  return (removal) => ({ reason: 'Deleting', facts: { ...facts, pipeId, removal, staysBehind } })
}
