import type { Action } from './action.ts'
import type { DecideInput } from './input.ts'
import type { Reason } from './reason.ts'
import type { LedgerRecord } from './record.ts'
import type { Removal } from './recorded-change.ts'

/* What the record says of a deletion: since when a manifest asks for it, and whether the request was sent. */

/** Time that a request has; a pipe that is found after it was not deleted: ms. */
export const DELETES_MS = 10 * 60_000

/** `absent`, or the digest of the spec that the manifest asks for instead. Undefined: the manifest asks for no deletion. */
export function deletionWish(
  { policy, desired }: Pick<DecideInput, 'policy' | 'desired'>,
  { applied }: Pick<LedgerRecord, 'applied'> = {},
): string | undefined {
  if (policy.ensure === 'absent') return 'absent'
  const digest = desired.fingerprint?.digest
  return policy.onImmutable === 'replace' && digest !== applied?.digest ? digest : undefined
}

/** When the grace began. It begins anew after the limit on deletions, unless an operator allowed the deletion. */
export function graceSince(
  mark: Removal | undefined,
  wish: string | undefined,
  { steadyNow, isAllowed }: { readonly steadyNow: number; readonly isAllowed: boolean },
): number {
  const isRunning = mark?.digest === wish && (mark?.isLimited !== true || isAllowed)
  return isRunning ? Math.min(mark?.since ?? steadyNow, steadyNow) : steadyNow
}

/** A clock that was set back since makes it no later than now. */
export function sentSince({ sentAt = 0 }: Removal, steadyNow: number): number {
  return Math.min(sentAt, steadyNow)
}

/** The mark after a decision: it begins, goes on, or ends. */
export function markAfter(
  input: DecideInput,
  action: Action,
  record: Pick<LedgerRecord, 'removal' | 'applied'>,
): Removal | undefined {
  const { steadyNow, observed, desired } = input
  const { removal } = record
  if (removal?.isSent === true) {
    const sentAt = removal.sentAt === undefined ? undefined : sentSince(removal, steadyNow)
    const isInVain = observed.status === 'found' && steadyNow - (sentAt ?? 0) >= DELETES_MS
    const isStillAsked = desired.state !== 'absent' && removal.digest === deletionWish(input, record)
    // Asked for again, its grace begins again.
    if (!isInVain) return { ...removal, sentAt, digest: isStillAsked ? removal.digest : '' }
  }
  const digest = desired.state === 'absent' ? undefined : deletionWish(input, record)
  if (digest === undefined || isHeld(action)) return undefined
  const before = removal?.digest === digest ? removal : undefined
  if (before === undefined && !BEGINS.has(action.reason)) return undefined
  const isAllowed = input.lifecycle === 'create-once' && input.removal?.isAllowed === true
  const isLimited = action.reason === 'DeleteLimit' || (isAllowed && before?.isLimited === true)
  const since = graceSince(before, digest, { steadyNow, isAllowed: isAllowed || isLimited })
  return { ...before, digest, since, isLimited: isLimited ? true : undefined }
}

const BEGINS: ReadonlySet<Reason> = new Set(['Deleting', 'DeleteLimit'])

/** Reasons for which the grace begins anew, once they are over. */
const ENDS: ReadonlySet<Reason> = new Set([
  'Suspended',
  'InvalidManifest',
  'ManifestVanishing',
  'ServiceInvalid',
  'NotUpdatable',
  'SecretRotated',
])

function isHeld({ type, reason, facts }: Action): boolean {
  if (ENDS.has(reason)) return true
  const isWaiting = type === 'hold' && reason === 'Deleting'
  return isWaiting && ['doubted', 'older', 'claimed'].includes(facts.removal.is)
}
