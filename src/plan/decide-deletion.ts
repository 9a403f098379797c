import type { Action } from './action.ts'
import { isBelieved, isDeleted } from './missing.ts'
import { backingOff, firstStop, orphanFacts, unfound } from './gates.ts'
import type { CreateOnceInput, DeletionFacts } from './input.ts'
import { REMOVAL_GRACE_MS, removalSince } from './decide-removal.ts'
import { massMissing } from './missing-gates.ts'
import type { Because, FactsOf } from './reason.ts'
import type { RemovalWords } from './reasons/removal-words.ts'
import type { Remote } from './record.ts'
import type { Removal } from './recorded-change.ts'

/*
 * What was created once is deleted only where its manifest says so (design §14), whether it is gone for good or asks for what only a new one
 * can be: only what was created from here and is as it was when it was last in sync, after a while in which that can be taken back,
 * a few at once, and with a mark that is durable before the request. It is asked for until it is gone.
 */

/** A request to delete it has had its time then: it is sent again. ms. */
export const DELETES_MS = 10 * 60_000
/** A request that nobody answered by then, as when its process ended, is sent again where the pipe is not found: ms. */
const ANSWERED_MS = 60_000
/** What is being deleted is looked at again after this, then ever later, up to the other: ms. */
const SOONEST_LOOK_MS = 2_000
const LATEST_LOOK_MS = 31_000

/** How a deletion is told: that of an orphan, or of what is replaced. */
interface Telling {
  /** What its manifest asks for instead: the while counts for that alone. Undefined: it is gone. */
  readonly wish: string | undefined
  readonly because: (removal: RemovalWords) => Because<'Orphaned' | 'Replacing'>
  readonly kept: (removal: RemovalWords) => Action
}

/**
 * Its manifest is gone for good, and said policy.onRemove "delete"; `undefined`: it did not, or nothing is known to be there.
 *
 * | the pipe | action |
 * |---|---|
 * | was adopted, another manifest may ask for it, or no Service manifest leads there | report Orphaned |
 * | the last reading of the manifests is not accepted, or may be older than what was acted on | hold Orphaned |
 * | too many are to be deleted at once | refuse DeleteLimit |
 * | found, changed since it was last in sync | report Orphaned |
 * | since less than ten minutes; they begin when nothing of that is so | hold Orphaned |
 * | found | delete |
 * | found, a request was sent less than ten minutes ago | hold Orphaned |
 * | 404, and a request that nobody answered was sent more than a minute ago | delete: it is sent again, for the answer |
 * | 404, after an answered request; otherwise confirmed and witnessed; and the list shows it | hold Orphaned |
 * | the same, and the list does not show it | delete: nothing is sent, and its record is forgotten |
 */
export function deleted(input: CreateOnceInput): Action | undefined {
  const { desired, recorded, removal } = input
  if (desired.state !== 'absent' || removal === undefined || recorded.remote === undefined) return undefined
  // It was to be replaced, and its manifest is gone since, without a word of that.
  if (recorded.onRemove !== 'delete' && sentFor(input) === undefined) return undefined
  const { staysBehind } = removal
  const because = (words: RemovalWords): Because<'Orphaned'> => ({
    reason: 'Orphaned',
    facts: { ...orphanFacts(input), removal: words, staysBehind },
  })
  return decideDeletion(input, removal, recorded.remote, {
    wish: undefined,
    because,
    kept: (words) => ({ type: 'report', differences: [], ...because(words) }),
  })
}

/** The manifest asks for what only another one can be, and says policy.onImmutable "replace". @param kept what is told where it is not deleted */
export function replacedBy(
  input: CreateOnceInput,
  remote: Remote,
  { fields, kept }: { readonly fields: readonly string[]; readonly kept: Telling['kept'] },
): Action | undefined {
  const { policy, removal, desired } = input
  const wish = desired.fingerprint?.digest
  if (policy.onImmutable !== 'replace' || removal === undefined || wish === undefined) return undefined
  const { staysBehind } = removal
  const because = (words: RemovalWords): Because<'Replacing'> => ({
    reason: 'Replacing',
    facts: { fields, pipeId: remote.id, removal: words, staysBehind },
  })
  return decideDeletion(input, removal, remote, { wish, because, kept })
}

/**
 * A request to delete it was sent, and there is a manifest: it is waited for, and created again once it is gone; `undefined`: nothing was
 * sent, or it is still there after all that time, and is treated like every other.
 */
export function goingFirst(input: CreateOnceInput, remote: Remote): Action | undefined {
  const sentAt = sentFor(input)
  return sentAt === undefined || input.observed.status === 'missing'
    ? undefined
    : beingReplaced(input, remote, sentAt)
}

/** As {@link goingFirst}, of what answers 404 and is not known for sure to be gone. */
export function goneUnconfirmed(input: CreateOnceInput): Action | undefined {
  const { observed, recorded } = input
  const { remote, removal } = recorded
  if (remote === undefined || observed.status !== 'missing') return undefined
  if (isDeleted(observed.misses, observed.witness, removal)) return undefined
  const sentAt = removal?.sentAt ?? 0
  return isToAskAgain(input, remote)
    ? askedAgain(input, { reason: 'Replacing', facts: replacedFacts(input, remote, sentAt) })
    : beingReplaced(input, remote, sentAt)
}

function beingReplaced(input: CreateOnceInput, remote: Remote, sentAt: number): Action {
  const facts = replacedFacts(input, remote, sentAt)
  return { type: 'hold', reason: 'Replacing', until: nextLook(input, sentAt), facts }
}

function replacedFacts({ removal }: CreateOnceInput, { id }: Remote, sentAt: number): FactsOf<'Replacing'> {
  return { fields: [], pipeId: id, removal: going(sentAt), staysBehind: removal?.staysBehind }
}

/**
 * Whether the request may be sent once more: what is not there answers that, and a 404 alone does not, since 404s in a row are counted by one
 * process. Only for whoever asked for it the first time.
 */
function isToAskAgain(
  { observed, recorded, removal, steadyNow, ...input }: CreateOnceInput,
  remote: Remote,
): boolean {
  const mark = recorded.removal
  if (
    observed.status !== 'missing' ||
    removal === undefined ||
    mark?.isSent !== true ||
    mark.isAnswered === true
  )
    return false
  if (steadyNow - sentSince(mark, steadyNow) < ANSWERED_MS) return false
  const { desired, policy } = input
  const isStillAsked =
    desired.state === 'absent'
      ? recorded.onRemove === 'delete' && mark.digest === undefined
      : desired.state === 'valid' &&
        policy.onImmutable === 'replace' &&
        mark.digest === desired.fingerprint?.digest
  return isStillAsked && removal.doubt === undefined && whyKept(remote, removal) === undefined
}

function askedAgain(input: CreateOnceInput, because: Because<'Orphaned' | 'Replacing'>): Action {
  return firstStop(input, [unfound, backingOff]) ?? { type: 'delete', ...because }
}

/** When the request was sent that is waited for; undefined: there is none, or what is still found has had its time. */
function sentFor({ recorded: { removal }, observed, steadyNow }: CreateOnceInput): number | undefined {
  if (removal?.isSent !== true) return undefined
  const sentAt = sentSince(removal, steadyNow)
  return observed.status === 'missing' || steadyNow - sentAt < DELETES_MS ? sentAt : undefined
}

/** A clock that was set back since makes it no later than now. */
export function sentSince({ sentAt = 0 }: Removal, steadyNow: number): number {
  return Math.min(sentAt, steadyNow)
}

function going(at: number): RemovalWords {
  return { is: 'going', at }
}

function decideDeletion(
  input: CreateOnceInput,
  removal: DeletionFacts,
  remote: Remote,
  { wish, because, kept }: Telling,
): Action {
  const { recorded, observed, steadyNow, now } = input
  const hold = (words: RemovalWords, until: number | undefined): Action => ({
    type: 'hold',
    until,
    ...because(words),
  })
  const sentAt = sentFor(input)
  if (sentAt !== undefined) return ofSent(input, remote, { sentAt, because, hold })
  const why = whyKept(remote, removal)
  if (why !== undefined) return kept(why)
  if (removal.doubt !== undefined) return hold({ is: removal.doubt }, undefined)
  if (removal.limit !== undefined) return { type: 'refuse', reason: 'DeleteLimit', facts: removal.limit }
  const changed = observed.status === 'found' ? changedWords(input) : undefined
  if (changed !== undefined) return kept(changed)
  const isSame = recorded.removal?.digest === wish
  const since = isSame ? removalSince(recorded, steadyNow, removal.isAllowed) : steadyNow
  const at = since + REMOVAL_GRACE_MS
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

function ofSent(
  input: CreateOnceInput,
  remote: Remote,
  {
    sentAt,
    because,
    hold,
  }: Pick<Telling, 'because'> & {
    readonly sentAt: number
    readonly hold: (words: RemovalWords, until: number) => Action
  },
): Action {
  const { observed, recorded } = input
  const isGone =
    observed.status === 'missing' && isDeleted(observed.misses, observed.witness, recorded.removal)
  if (isGone && input.mayBeThere !== true) return { type: 'delete', ...because({ is: 'done' }) }
  return !isGone && isToAskAgain(input, remote)
    ? askedAgain(input, because(going(sentAt)))
    : hold(going(sentAt), nextLook(input, sentAt))
}

/** Soon at first, and then at twice what has passed; on the wall clock. */
function nextLook({ now, steadyNow, observed }: CreateOnceInput, sentAt: number): number {
  if (observed.status === 'missing') return now + LATEST_LOOK_MS
  return now + Math.min(Math.max(SOONEST_LOOK_MS, steadyNow - sentAt), LATEST_LOOK_MS)
}

/** Why what is found is kept. */
function changedWords({ changedSince }: CreateOnceInput): RemovalWords | undefined {
  if (changedSince === undefined) return { is: 'never in sync' }
  return changedSince.length > 0 ? { is: 'changed', fields: changedSince.slice(0, 5) } : undefined
}

/** Whether something stands in the way of a deletion, but for the limit, wherever else the reconcile comes to. */
export function isHeld({ recorded, removal }: CreateOnceInput): boolean {
  if (removal === undefined || recorded.remote === undefined) return false
  return removal.doubt !== undefined || whyKept(recorded.remote, removal) !== undefined
}

function whyKept(remote: Remote, { isReachable, claimant, unread }: DeletionFacts): RemovalWords | undefined {
  if (remote.origin !== 'created') return { is: 'not ours' }
  // Where that is so, all manifests of the service have errors.
  if (!isReachable) return { is: 'unreachable' }
  if (claimant !== undefined) return { is: 'claimed', key: claimant }
  return unread.length > 0 ? { is: 'unread', files: unread.slice(0, 3) } : undefined
}
