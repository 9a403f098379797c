import type { Action } from '../plan/action.ts'
import { DELETES_MS, sentSince } from '../plan/decide-deletion.ts'
import { removalSince } from '../plan/decide-removal.ts'
import type { DecideInput } from '../plan/input.ts'
import type { Reason } from '../plan/reason.ts'
import type { RemovalWords } from '../plan/reasons/removal-words.ts'
import type { LedgerRecord } from '../plan/record.ts'
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
  // One that was to be replaced has its while from when its manifest is gone.
  const before = removal?.digest === undefined || removal.isSent === true ? removal : undefined
  const since = isAskedFor(action) ? undefined : removalSince({ removal: before }, steadyNow)
  const sentAt = before?.sentAt === undefined ? undefined : sentSince(before, steadyNow)
  return { onRemove, removal: { ...before, since, sentAt, isKept: isKept(action) }, left }
}

/** Whether another manifest may ask for it. When that one goes, too, there is ten minutes to take it back. */
function isAskedFor({ reason, facts }: Action): boolean {
  return reason === 'Orphaned' && ASKED_FOR.has(facts?.removal?.is)
}

const ASKED_FOR: ReadonlySet<RemovalWords['is'] | undefined> = new Set(['beside', 'claimed', 'unread'])

function isKept({ type }: Action): true | undefined {
  return type === 'report' ? true : undefined
}

/** What a manifest that is there leaves of a mark: that a request was sent, and that it is to be replaced. */
function replacementMark(
  { desired, observed, recorded, steadyNow, policy }: DecideInput,
  { reason }: Action,
  { removal, remote, former, applied }: LedgerRecord,
): LedgerRecord['removal'] {
  const isGiven = remote?.id !== recorded.remote?.id && former === undefined
  if (isGiven) return undefined
  const sentAt = removal === undefined ? 0 : sentSince(removal, steadyNow)
  const isStill = observed.status === 'found' && steadyNow - sentAt >= DELETES_MS
  if (removal?.isSent === true && !isStill) return { ...removal, sentAt }
  const digest = desired.fingerprint?.digest
  if (digest === undefined || policy.onImmutable !== 'replace' || ENDS.has(reason)) return undefined
  const before = removal?.digest === digest ? removal : undefined
  const isWished = REPLACES.has(reason) || (before !== undefined && digest !== applied?.digest)
  return isWished ? { ...before, digest, since: removalSince({ removal: before }, steadyNow) } : undefined
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
