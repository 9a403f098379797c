import type { Action } from '../plan/action.ts'
import { DELETES_MS, isHeld, sentSince } from '../plan/decide-deletion.ts'
import { isAppliedHeld, removalSince } from '../plan/decide-removal.ts'
import type { DecideInput } from '../plan/input.ts'
import type { Reason } from '../plan/reason.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Removal } from '../plan/recorded-change.ts'
import type { ReconcileContext } from './context.ts'
import type { Assessment } from './gather/assess.ts'
import { leftNow } from './gather/deletion-facts.ts'
import { isLeftAlone } from './state/entry-policy.ts'

/** What is kept for the time when a manifest is gone: what it said of that, and since when it is known to be gone. */
export function removalMark(
  context: ReconcileContext,
  { input, entry }: Pick<Assessment, 'input' | 'entry'>,
  { action, record }: { readonly action: Action; readonly record: LedgerRecord },
): Pick<LedgerRecord, 'onRemove' | 'removal' | 'left'> {
  const { desired, now, steadyNow } = input
  const { onRemove, removal, left } = record
  // What may be older than what was acted on says nothing about it.
  if (context.store.olderThan !== undefined) return { onRemove, removal: removal && heldAnew(removal), left }
  const manifest = entry?.manifest
  if (manifest !== undefined) {
    const isDeleted = manifest.policy?.onRemove === 'delete'
    const isAsked = isDeleted && !isLeftAlone(entry, now)
    return {
      onRemove: isAsked ? 'delete' : undefined,
      removal: replacementMark(input, action, record),
      left:
        isDeleted || manifest.policy?.onImmutable === 'replace'
          ? leftAfter(context, input, record)
          : undefined,
    }
  }
  const sent = removal?.isSent === true ? removal : undefined
  if (entry !== undefined || onRemove === undefined) return { onRemove, removal: sent, left }
  if (desired.state !== 'absent') return { onRemove, removal, left }
  const sentAt = removal?.sentAt === undefined ? undefined : sentSince(removal, steadyNow)
  const isOver = isSentInVain(input, sentAt)
  // One that was to be replaced has its while from when its manifest is gone.
  const before = removal?.digest === undefined || (removal.isSent === true && !isOver) ? removal : undefined
  return { onRemove, removal: { ...begun(input, action, before), ...(before && { sentAt }) }, left }
}

/** Its while begins anew, unless a request was sent. */
function heldAnew(removal: Removal): Removal {
  return removal.isSent === true ? removal : { ...removal, heldBy: 'manifests' }
}

/** A mark whose while goes on, or begins: it is over only once nothing stood in the way for all of it. */
function begun(
  input: DecideInput,
  action: Action,
  before: LedgerRecord['removal'],
): NonNullable<LedgerRecord['removal']> {
  const { steadyNow, observed } = input
  const isAllowed = input.lifecycle === 'create-once' && input.removal?.isAllowed === true
  const isHeldNow = isHeldByManifests(input)
  const isOther = action.type === 'report' && !isHeldNow
  const byLimit = action.reason === 'DeleteLimit' || (isAllowed && before?.heldBy === 'limit')
  // What somebody changed is looked at like what is due, and has its while once it is as it was.
  const heldBy = isHeldNow ? 'manifests' : byLimit ? 'limit' : isOther ? before?.heldBy : undefined
  const isOver = heldBy === undefined || (heldBy === 'limit' && before?.heldBy === 'manifests')
  const since = isOver
    ? removalSince({ removal: before }, steadyNow)
    : Math.min(before?.since ?? steadyNow, steadyNow)
  const isKept = isOther || (observed.status === 'unseen' && before?.isKept === true)
  return { ...before, since, isKept: isKept ? true : undefined, heldBy }
}

/** Whether manifests, or the reading of them, stand in the way, also where nobody could look at the platform. */
function isHeldByManifests(input: DecideInput): boolean {
  if (input.lifecycle === 'create-once') return isHeld(input)
  return input.lifecycle === 'upsert' && isAppliedHeld(input)
}

/** It is still there after a request had its time. */
function isSentInVain({ observed, steadyNow }: DecideInput, sentAt = 0): boolean {
  return observed.status === 'found' && steadyNow - sentAt >= DELETES_MS
}

/** What a manifest that is there leaves of a mark: that a request was sent, and that it is to be replaced. */
function replacementMark(
  input: DecideInput,
  action: Action,
  { removal, remote, former, applied }: LedgerRecord,
): LedgerRecord['removal'] {
  const { desired, recorded, steadyNow, policy } = input
  const isGiven = remote?.id !== recorded.remote?.id && former === undefined
  if (isGiven) return undefined
  const sentAt = removal === undefined ? 0 : sentSince(removal, steadyNow)
  const digest = desired.fingerprint?.digest
  // When that manifest goes again, it has its while.
  const isBack = removal !== undefined && removal.digest !== digest
  if (removal?.isSent === true && !isSentInVain(input, sentAt))
    return { ...removal, sentAt, heldBy: isBack ? 'manifests' : removal.heldBy }
  if (digest === undefined || policy.onImmutable !== 'replace' || ENDS.has(action.reason)) return undefined
  const before = removal?.digest === digest ? removal : undefined
  const isWished = REPLACES.has(action.reason) || (before !== undefined && digest !== applied?.digest)
  return isWished ? { ...begun(input, action, before), digest } : undefined
}

const REPLACES: ReadonlySet<Reason> = new Set(['Replacing', 'DeleteLimit'])

/** Whoever says this has taken it back, or is told why it is kept. */
const ENDS: ReadonlySet<Reason> = new Set(['Suspended', 'InvalidManifest', 'NotUpdatable', 'SecretRotated'])

/** A service shows some of what it fills in after a while, and some of it at times: that long it is learned. ms. */
const LEARNS_MS = 60 * 60_000

/** What it is like once it is in sync; as before while it is not. */
function leftAfter(
  { store }: ReconcileContext,
  input: DecideInput,
  { left, remote, change, command }: LedgerRecord,
): LedgerRecord['left'] {
  if (input.lifecycle !== 'create-once' || remote === undefined) return undefined
  const { observed, desired, recorded, kind, steadyNow } = input
  const isSettled = change === undefined && command === undefined
  if (observed.status !== 'found' || observed.there === undefined || !isSettled) return left
  const digest = recorded.applied?.digest
  const isSame = remote.id === recorded.remote?.id && desired.fingerprint?.digest === digest
  if (!isSame || digest === undefined || observed.differences.length > 0) return left
  const before = left?.digest === digest ? left : undefined
  const since = Math.min(before?.since ?? steadyNow, steadyNow)
  // Later additions are somebody's.
  if (before !== undefined && steadyNow - since >= LEARNS_MS) return before
  const fields = { ...before?.fields, ...leftNow(store, { kind, key: desired.key }, observed.there) }
  return { digest, since, fields }
}
