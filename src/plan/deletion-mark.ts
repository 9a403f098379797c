import type { Action } from './action.ts'
import type { DecideInput } from './input.ts'
import type { Reason } from './reason.ts'
import type { LedgerRecord, Removal } from './record.ts'

/** If a read finds the pipe this long after the request, the deletion had no effect. */
export const DELETES_MS = 10 * 60_000

/** `absent`, or the digest of the new spec. Undefined: the manifest asks for no deletion. */
export function deletionTarget(
  { policy, desired }: Pick<DecideInput, 'policy' | 'desired'>,
  { applied }: Pick<LedgerRecord, 'applied'> = {},
): string | undefined {
  if (policy.ensure === 'absent') return 'absent'
  const digest = desired.fingerprint?.digest
  return policy.onImmutable === 'replace' && digest !== applied?.digest ? digest : undefined
}

/** Start of the wait before a deletion. A reached delete limit restarts it. */
export function graceSince(
  mark: Removal | undefined,
  wish: string | undefined,
  { steadyNow, isAllowed }: { readonly steadyNow: number; readonly isAllowed: boolean },
): number {
  const isRunning = mark?.digest === wish && (mark?.isLimited !== true || isAllowed)
  return isRunning ? Math.min(mark?.since ?? steadyNow, steadyNow) : steadyNow
}

/** Send time of the deletion request. At most now, because the clock can be set back. */
export function sentSince({ sentAt = 0 }: Removal, steadyNow: number): number {
  return Math.min(sentAt, steadyNow)
}

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
    const isStillAsked = desired.state !== 'absent' && removal.digest === deletionTarget(input, record)
    if (!isInVain) return { ...removal, sentAt, digest: isStillAsked ? removal.digest : '' }
  }
  const digest = desired.state === 'absent' ? undefined : deletionTarget(input, record)
  if (digest === undefined || isHeld(action)) return undefined
  const before = removal?.digest === digest ? removal : undefined
  if (before === undefined && !BEGINS.has(action.reason)) return undefined
  const isAllowed = input.lifecycle === 'create-once' && input.removal?.isAllowed === true
  const isLimited = action.reason === 'DeleteLimit' || (isAllowed && before?.isLimited === true)
  const since = graceSince(before, digest, { steadyNow, isAllowed: isAllowed || isLimited })
  return { digest, since, isLimited: isLimited ? true : undefined }
}

const BEGINS: ReadonlySet<Reason> = new Set(['Deleting', 'DeleteLimit'])

const ENDS: ReadonlySet<Reason> = new Set([
  'Suspended',
  'InvalidManifest',
  'ManifestVanishing',
  'NotUpdatable',
  'SecretRotated',
])

function isHeld({ type, reason, facts }: Action): boolean {
  if (ENDS.has(reason) || (reason === 'DependencyNotReady' && 'is' in facts)) return true
  const isWaiting = type === 'hold' && reason === 'Deleting'
  return isWaiting && ['doubted', 'older', 'claimed', 'locked'].includes(facts.removal.is)
}

export function isDeletionUnderWay({ type, reason, facts }: Action): boolean {
  if (type === 'delete') return true
  return (
    type === 'hold' && reason === 'Deleting' && ['later', 'going', 'not found'].includes(facts.removal.is)
  )
}
