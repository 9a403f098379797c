import type { Action } from './action.ts'
import { deletionWish, DELETES_MS, graceSince, sentSince } from './deletion-mark.ts'
import { backingOff, firstStop, serviceInvalid, unfound } from './gates.ts'
import type { CreateOnceInput, DecideInput, DeletionFacts, UpsertInput } from './input.ts'
import { sameId } from '../lib/same-id.ts'
import { isBelieved, isDeleted, wasGivenUp } from './missing.ts'
import { massMissing } from './missing-gates.ts'
import type { Because, FactsOf } from './reason.ts'
import type { RemovalWords } from './reasons/removal-words.ts'
import type { Remote } from './record.ts'

/*
 * A deletion is asked for by a manifest that is there: by `policy.ensure: absent`, or by `policy.onImmutable: replace` and an edit that needs
 * another pipe. A request that was sent is followed until its pipe is gone, whatever the manifest says by then.
 */

/** Time in which the manifest can be taken back: ms. */
export const GRACE_MS = 10 * 60_000
/** Without an answer for so long, the request is repeated if the pipe is not found: ms. */
const ANSWERED_MS = 60_000
/** First and last interval between looks at a pipe that is being deleted: ms. */
const SOONEST_LOOK_MS = 2_000
const LATEST_LOOK_MS = 31_000

type Deleting = FactsOf<'Deleting'>

const ABSENT: Action = { type: 'observe', reason: 'Absent', facts: undefined }

/** The manifest says `policy.ensure: absent`, and nothing is recorded. */
export function absent({ policy }: DecideInput): Action | undefined {
  return policy.ensure === 'absent' ? ABSENT : undefined
}

/**
 * The manifest says `policy.ensure: absent`, and a pipe is recorded.
 *
 * | the pipe | action |
 * |---|---|
 * | a request was sent | as {@link decideSent} |
 * | the manifest names another service | report Drifted |
 * | the directory or its revision is doubtful, or another manifest names the pipe | hold Deleting |
 * | the limit on deletions is reached | refuse DeleteLimit |
 * | found, changed since it was last in sync | report Drifted |
 * | asked for since less than ten minutes | hold Deleting |
 * | found | delete |
 * | 404, unconfirmed, without a witness, or still listed | hold Deleting |
 * | 404, confirmed and witnessed, and not listed | delete: nothing is sent, and the record lets go of it |
 */
export function decideAbsent(input: CreateOnceInput, remote: Remote): Action {
  const { removal } = input
  if (removal === undefined) throw new Error(`${input.desired.key} cannot be deleted`)
  if (isWaitedFor(input)) return decideSent(input, remote)
  const why = 'ensure'
  const because = becauseOf(input, { why, fields: [] })
  const stop = firstStop(input, [otherService, unfound, serviceInvalid])
  return stop ?? decideDeletion(input, { removal, because, kept: (fields) => drifted(input, fields) })
}

/** The same of what is set as a whole, of which a service has one: its deletion is immediate, and needs no confirmation. */
export function decideAbsentUpsert(input: UpsertInput): Action {
  const { recorded, observed, now, steadyNow } = input
  if (recorded.upsert === undefined) return ABSENT
  const because = becauseOf(input, { why: 'ensure', fields: [] })
  const hold = (is: RemovalWords, until?: number): Action => ({ type: 'hold', until, ...because(is) })
  const stop = firstStop(input, [otherService, unfound, serviceInvalid])
  if (stop !== undefined) return stop
  const doubt = doubtOf(input)
  if (doubt !== undefined) return hold({ is: doubt })
  if (observed.status === 'found' && !input.isAsLeft)
    return drifted(
      input,
      observed.differences.map(({ field }) => field),
    )
  const at = graceSince(recorded.removal, deletionWish(input), { steadyNow, isAllowed: false }) + GRACE_MS
  if (at > steadyNow) return hold({ is: 'later', at }, now + at - steadyNow)
  switch (observed.status) {
    case 'unseen':
      return backingOff(input) ?? hold({ is: 'later', at }, now)
    case 'found':
      return backingOff(input) ?? { type: 'delete', ...because({ is: 'now' }) }
    case 'missing':
      return {
        type: 'delete',
        ...because({ is: recorded.removal?.isSent === true ? 'done' : 'gone already' }),
      }
  }
}

/** The manifest asks for what only another pipe can be, and says `policy.onImmutable: replace`. @param kept what is told if it is not deleted */
export function replacedBy(
  input: CreateOnceInput,
  remote: Remote,
  { fields, kept }: { readonly fields: readonly string[]; readonly kept: (removal: RemovalWords) => Action },
): Action | undefined {
  const { policy, removal } = input
  if (policy.onImmutable !== 'replace' || removal === undefined) return undefined
  if (remote.origin !== 'created') return kept({ is: 'not ours' })
  const changed = (names: readonly string[] | undefined): Action =>
    kept(names === undefined ? { is: 'never in sync' } : { is: 'changed', fields: names.slice(0, 5) })
  const because = becauseOf(input, { why: 'edited', fields })
  return serviceInvalid(input) ?? decideDeletion(input, { removal, because, kept: changed })
}

/** A request was sent, and it has time left: how that pipe is followed. */
export function goingFirst(input: CreateOnceInput, remote: Remote): Action | undefined {
  const { observed, desired } = input
  if (!isWaitedFor(input)) return undefined
  // A pipe that is gone is created again.
  if (observed.status === 'missing' && desired.state !== 'absent') return undefined
  return decideSent(input, remote)
}

/** As {@link goingFirst}, of a pipe that answers 404, until it is certain to be gone. */
export function goneUnconfirmed(input: CreateOnceInput): Action | undefined {
  const { remote } = input.recorded
  if (remote === undefined || input.observed.status !== 'missing' || isGone(input)) return undefined
  return decideSent(input, remote)
}

/** A request to delete the pipe was sent: its end is waited for. */
function decideSent(input: CreateOnceInput, remote: Remote): Action {
  const { policy, desired, recorded, now, steadyNow, observed } = input
  const sentAt = recorded.removal === undefined ? 0 : sentSince(recorded.removal, steadyNow)
  const why = desired.state === 'absent' ? 'removed' : policy.ensure === 'absent' ? 'ensure' : 'back'
  const because = becauseOf(input, { why, fields: [] })
  if (isGone(input) && input.mayBeThere !== true) return { type: 'delete', ...because({ is: 'done' }) }
  const going = because({ is: 'going', at: sentAt })
  if (!isGone(input) && isToAskAgain(input, remote))
    return firstStop(input, [unfound, serviceInvalid, backingOff]) ?? { type: 'delete', ...going }
  const lookMs =
    observed.status === 'missing'
      ? LATEST_LOOK_MS
      : Math.min(Math.max(SOONEST_LOOK_MS, steadyNow - sentAt), LATEST_LOOK_MS)
  return { type: 'hold', until: now + lookMs, ...going }
}

function isGone({ observed, recorded }: CreateOnceInput): boolean {
  return observed.status === 'missing' && isDeleted(observed.misses, observed.witness, recorded.removal)
}

/** A request was sent; a pipe that is found is given ten minutes. */
function isWaitedFor({ recorded: { removal }, observed, steadyNow }: CreateOnceInput): boolean {
  if (removal?.isSent !== true) return false
  return observed.status === 'missing' || steadyNow - sentSince(removal, steadyNow) < DELETES_MS
}

/**
 * Whether a request without an answer may be repeated, so that the platform says that the pipe is gone: 404s in a row are counted by one
 * process. Only if the manifest still asks for it.
 */
function isToAskAgain(input: CreateOnceInput, remote: Remote): boolean {
  const { observed, desired, removal, steadyNow } = input
  const mark = input.recorded.removal
  if (observed.status !== 'missing' || mark?.isSent !== true || mark.isAnswered === true) return false
  if (removal === undefined || steadyNow - sentSince(mark, steadyNow) < ANSWERED_MS) return false
  const wish = desired.state === 'valid' ? deletionWish(input) : undefined
  const isOurs = remote.origin === 'created' || wish === 'absent'
  const isStillAsked = wish !== undefined && mark.digest === wish && isOurs
  return isStillAsked && doubtOf(input) === undefined && removal.claimant === undefined
}

function decideDeletion(
  input: CreateOnceInput,
  {
    removal,
    because,
    kept,
  }: {
    readonly removal: DeletionFacts
    readonly because: (removal: RemovalWords) => Because<'Deleting'>
    /** @param fields that changed since it was last in sync; undefined: it never was */
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
  const at = graceSince(recorded.removal, deletionWish(input), { steadyNow, isAllowed }) + GRACE_MS
  if (at > steadyNow) return hold({ is: 'later', at }, now + at - steadyNow)
  switch (observed.status) {
    case 'unseen':
      return backingOff(input) ?? hold({ is: 'later', at }, now + LATEST_LOOK_MS)
    case 'found':
      return firstStop(input, [unfound, backingOff]) ?? { type: 'delete', ...because({ is: 'now' }) }
    case 'missing':
      return isBelieved(observed.misses, observed.witness) &&
        massMissing(input) === undefined &&
        input.mayBeThere !== true
        ? { type: 'delete', ...because({ is: 'gone already' }) }
        : hold({ is: 'not found' }, now + LATEST_LOOK_MS)
  }
}

/** Fields that changed since the pipe was last in sync. Undefined: it never was. */
function changedFields(input: CreateOnceInput): readonly string[] | undefined {
  const { changedSince, policy, observed } = input
  if (changedSince !== undefined || policy.ensure !== 'absent') return changedSince
  // What it is like is kept from the first look that finds it in sync with a manifest that asks for this.
  return observed.status === 'found' ? observed.differences.map(({ field }) => field) : []
}

/** Why a reading of the manifests is not enough to delete for. */
function doubtOf({ surroundings }: DecideInput): 'older' | 'doubted' | undefined {
  if (surroundings.olderThan !== undefined) return 'older'
  return surroundings.isDoubted ? 'doubted' : undefined
}

function otherService(input: DecideInput): Action | undefined {
  return input.desired.otherService ? drifted(input, ['service']) : undefined
}

function drifted({ observed }: DecideInput, fields: readonly string[] = []): Action {
  const differences = observed.status === 'found' ? observed.differences : []
  const facts = { fields: fields.slice(0, 5), from: 'ensure' } as const
  return { type: 'report', reason: 'Drifted', differences, facts }
}

function becauseOf(
  input: DecideInput,
  facts: Pick<Deleting, 'why' | 'fields'>,
): (removal: RemovalWords) => Because<'Deleting'> {
  const staysBehind = input.lifecycle === 'create-once' ? input.kind.staysBehind : undefined
  const pipeId = input.recorded.remote?.id
  return (removal) => ({ reason: 'Deleting', facts: { ...facts, pipeId, removal, staysBehind } })
}
