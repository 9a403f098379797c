import type { Action } from './action.ts'
import { backingOff, orphanFacts } from './gates.ts'
import type { RemovalFacts, UpsertInput } from './input.ts'
import type { LedgerRecord } from './record.ts'
import type { RemovalWords } from './reasons/removal-words.ts'

/** So long after it is known that a manifest is gone, what was applied is deleted: ms. A mistake can be taken back until then. */
export const REMOVAL_GRACE_MS = 10 * 60_000

/**
 * Deletes what was applied, where its manifest asked for that while it was there; `undefined`: it did not.
 *
 * | the manifest is gone for good, and said policy.onRemove "delete" | action |
 * |---|---|
 * | nothing was ever sent, another manifest may apply to the service, or no Service manifest leads there | report Orphaned |
 * | the last reading of the manifests is not accepted, or may be older than what was acted on | hold Orphaned |
 * | it is something else than what was left | report Orphaned |
 * | since less than ten minutes; they begin when nothing of that is so | hold Orphaned |
 * | it is not there | delete: nothing is sent, and its record is forgotten |
 * | it is as it was left | delete |
 */
export function removed(input: UpsertInput): Action | undefined {
  const { desired, recorded, removal, observed, now, steadyNow } = input
  if (desired.state !== 'absent' || removal === undefined) return undefined
  const kept = whyKept(recorded, removal)
  if (kept !== undefined) return reported(input, kept)
  if (removal.doubt !== undefined) return held(input, undefined, { is: removal.doubt })
  if (observed.status === 'found' && !input.isAsLeft) return reported(input, { is: 'changed' })
  const at = removalSince(recorded, steadyNow) + REMOVAL_GRACE_MS
  if (at > steadyNow) return held(input, now + at - steadyNow, { is: 'later', at })
  switch (observed.status) {
    case 'unseen':
      return backingOff(input) ?? held(input, now, { is: 'later', at })
    case 'found':
      return backingOff(input) ?? deleted(input, { is: 'now' })
    case 'missing':
      return deleted(input, { is: recorded.removal?.isSent === true ? 'done' : 'gone already' })
  }
}

/**
 * Since when it is known that its manifest is gone, and nothing stands in the way. A clock that was set back makes it no longer than
 * from now on.
 * @param isAllowed a person lets it pass, whatever the limit on deletions says
 */
export function removalSince(
  { removal }: Pick<LedgerRecord, 'removal'>,
  steadyNow: number,
  isAllowed = false,
): number {
  const isHeld = removal?.heldBy === 'manifests' || (removal?.heldBy === 'limit' && !isAllowed)
  return isHeld ? steadyNow : Math.min(removal?.since ?? steadyNow, steadyNow)
}

/** Whether it is time to look at what is to be deleted. */
export function isRemovalDue(record: LedgerRecord, steadyNow: number): boolean {
  const { onRemove, removal, upsert, remote } = record
  if (removal === undefined) return false
  if (remote !== undefined && removal.isSent === true) return true
  const isOurs = remote === undefined ? upsert?.isTakenOver !== true : remote.origin === 'created'
  if (onRemove !== 'delete' || !isOurs || !(upsert ?? remote)) return false
  return Math.min(removal.since, steadyNow) + REMOVAL_GRACE_MS <= steadyNow
}

/** Whether something stands in the way, wherever else the reconcile comes to. */
export function isAppliedHeld({ recorded, removal }: UpsertInput): boolean {
  return removal !== undefined && (removal.doubt !== undefined || whyKept(recorded, removal) !== undefined)
}

function whyKept({ upsert }: LedgerRecord, removal: RemovalFacts): RemovalWords | undefined {
  if (upsert?.isTakenOver === true) return { is: 'not ours' }
  if (removal.beside !== undefined) return { is: 'beside', key: removal.beside }
  if (removal.unread.length > 0) return { is: 'unread', files: removal.unread.slice(0, 3) }
  return removal.isReachable ? undefined : { is: 'unreachable' }
}

function reported(input: UpsertInput, removal: RemovalWords): Action {
  return { type: 'report', reason: 'Orphaned', differences: [], facts: { ...orphanFacts(input), removal } }
}

function held(input: UpsertInput, until: number | undefined, removal: RemovalWords): Action {
  return { type: 'hold', reason: 'Orphaned', until, facts: { ...orphanFacts(input), removal } }
}

function deleted(input: UpsertInput, removal: RemovalWords): Action {
  return { type: 'delete', reason: 'Orphaned', facts: { ...orphanFacts(input), removal } }
}
