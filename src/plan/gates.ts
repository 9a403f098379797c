import type { Difference } from '../kinds/difference.ts'
import type { Key } from '../kinds/key.ts'
import type { Action } from './action.ts'
import { isWaiting } from './requeue.ts'
import type { DecideInput, CreateOnceInput } from './input.ts'
import { attemptFacts, unknownFacts, unknownOutcomeFacts, undecidedIntent } from './outcome-unknown.ts'
import { explained, type Explanation, type FactsOf } from './reason.ts'
import type { LedgerRecord } from './record.ts'

export function findBlocker<Input extends DecideInput>(
  input: Input,
  gates: readonly ((input: Input) => Action | undefined)[],
): Action | undefined {
  for (const gate of gates) {
    const stop = gate(input)
    if (stop !== undefined) return stop
  }
  return undefined
}

export function reportDrift(differences: readonly Difference[], from: FactsOf<'Drifted'>['from']): Action {
  const fields = differences.map(({ field }) => field)
  return { type: 'report', reason: 'Drifted', differences, facts: { fields, from } }
}

export function mightHaveResource(record: LedgerRecord): boolean {
  return record.remote !== undefined || record.upsert !== undefined || undecidedIntent(record) !== undefined
}

export function expectsManifest(record: LedgerRecord): boolean {
  return mightHaveResource(record) && !isKnownGone(record)
}

export function isKnownGone({ conditions }: LedgerRecord): boolean {
  return conditions?.Valid.reason === 'Orphaned'
}

export function orphaned(input: DecideInput): Action | undefined {
  if (input.desired.state !== 'absent') return undefined
  return {
    type: 'report',
    reason: 'Orphaned',
    differences: [],
    facts: orphanFacts(input.recorded, input.surroundings.holder),
  }
}

export function orphanFacts(recorded: LedgerRecord, holder?: Key): NonNullable<FactsOf<'Orphaned'>> {
  const { key, file, remote, former } = recorded
  const intent = undecidedIntent(recorded)
  const pipeId = (remote ?? former?.remote)?.id
  return {
    key,
    file,
    pipeId,
    holder,
    attempt: intent && attemptFacts(intent),
    retryFrom: intent && unknownFacts(recorded, intent, []).retryFrom,
    isNothing: !mightHaveResource(recorded),
  }
}

export function manifestMissing(input: DecideInput): Action | undefined {
  if (input.desired.state !== 'missing') return undefined
  const { olderThan, isDoubted } = input.surroundings
  const by = olderThan !== undefined ? 'another checkout' : isDoubted ? 'a doubtful reading' : 'readings'
  return {
    type: 'hold',
    reason: 'ManifestVanishing',
    facts: { by, olderThan, unknown: unknownOutcomeFacts(input) },
  }
}

/** Changes nothing: the last read of the directory did not find the manifest, but that read was rejected. */
export function unfound({ surroundings }: DecideInput): Action | undefined {
  if (!surroundings.unfound) return undefined
  return { type: 'hold', reason: 'ManifestVanishing', facts: { by: 'a doubtful reading' } }
}

/** Refuses an adoption from a stale checkout: a newer checkout might name another pipe. */
export function adoptOfOlder(
  { surroundings: { olderThan } }: CreateOnceInput,
  pipeId: string,
  by: 'policy.adopt' | 'a Lock' | 'the list',
): Action | undefined {
  if (olderThan === undefined) return undefined
  return { type: 'refuse', reason: 'NotLeading', facts: { olderThan, pipeId, by } }
}

export function suspended(input: DecideInput): Action | undefined {
  if (input.policy.suspend === undefined) return undefined
  const { reason, until } = input.policy.suspend
  const end = Date.parse(until)
  if (end <= input.now) return undefined
  return {
    type: 'hold',
    reason: 'Suspended',
    until: end,
    facts: { until, why: reason, unknown: unknownOutcomeFacts(input) },
  }
}

export function invalid(input: DecideInput): Action | undefined {
  const { desired } = input
  if (desired.state !== 'invalid') return undefined
  return {
    type: 'hold',
    reason: 'InvalidManifest',
    facts: {
      said: desired.problem ?? 'The manifest has errors.',
      meanwhile: desired.fingerprint === undefined ? 'nothing' : 'the last valid one',
      unknown: unknownOutcomeFacts(input),
    },
  }
}

export function serviceInvalid({ surroundings }: DecideInput): Action | undefined {
  if (surroundings.serviceProblem === undefined) return undefined
  return { type: 'refuse', reason: 'DependencyNotReady', facts: surroundings.serviceProblem }
}

export function dependencyNotReady({ surroundings }: DecideInput): Action | undefined {
  if (surroundings.notReady.length === 0) return undefined
  return { type: 'refuse', reason: 'DependencyNotReady', facts: { waitsFor: surroundings.notReady } }
}

export function dependencyWaits({ reason, facts }: Explanation): readonly string[] {
  const waits = reason === 'DependencyNotReady' && facts !== undefined && 'waitsFor' in facts
  return waits ? facts.waitsFor : []
}

export function secretUnavailable({ surroundings }: DecideInput): Action | undefined {
  const { missingSecrets } = surroundings
  if (missingSecrets.length === 0) return undefined
  return { type: 'refuse', reason: 'SecretUnavailable', facts: { missing: missingSecrets } }
}

/** Ends early after an edit of manifest or Service, a rotated secret, a person's request or a newer checkout. */
export function backingOff({
  desired,
  recorded,
  now,
  steadyNow,
  isAsked,
  surroundings,
}: DecideInput): Action | undefined {
  const { backoff, conditions } = recorded
  if (backoff === undefined || isAsked === true || !isWaiting(backoff, steadyNow)) return undefined
  if (conditions?.Synced.reason === 'NotLeading' && surroundings.olderThan === undefined) return undefined
  if (desired.fingerprint !== undefined && attemptDigest(desired.fingerprint) !== backoff.digest)
    return undefined
  if (desired.otherService && recorded.remote === undefined) return undefined
  const until = now + backoff.until - steadyNow
  const after = conditions && explained(conditions.Synced)
  return { type: 'hold', reason: 'BackingOff', until, facts: { after, until } }
}

export function attemptDigest(fingerprint: {
  readonly digest: string
  readonly secrets: Readonly<Record<string, string>>
}): string {
  const secrets = Object.entries(fingerprint.secrets).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [fingerprint.digest, ...secrets.map(([path, hash]) => `${path}=${hash}`)].join('\n')
}

/** Refuses a create if another key's pipe might be the pipe that this manifest describes. */
export function similarFirst({
  surroundings,
  desired,
  recorded,
  policy,
}: CreateOnceInput): Action | undefined {
  const { similar } = surroundings
  if (similar === undefined) return undefined
  const { replaces } = policy
  const { how, key: other, file, platformName, foreign, by, rival } = similar
  const isCreated = how === 'unclaimed' ? recorded.remote !== undefined : undefined
  const facts = { how, key: desired.key, other, file, isCreated, platformName, foreign, by, rival, replaces }
  return { type: 'refuse', reason: 'Ambiguous', facts }
}

export function claimedFirst({ surroundings, desired, recorded }: CreateOnceInput): Action | undefined {
  const { claim } = surroundings
  if (claim === undefined) return undefined
  const how = claim.by === undefined ? 'claimed' : 'renamed-from'
  const facts = { how, key: claim.key, other: desired.key, file: recorded.file, by: claim.by } as const
  return { type: 'refuse', reason: 'Ambiguous', facts }
}

const FILES_SHOWN = 3

/** Refuses a create while an unreadable file might hold a Lock for the key's pipe. */
export function lockUnreadable({ surroundings, recorded }: CreateOnceInput): Action | undefined {
  const files = surroundings.hiddenLocks
  if (files.length === 0 || recorded.remote !== undefined || recorded.intent !== undefined) return undefined
  const shown = files.slice(0, FILES_SHOWN)
  return {
    type: 'refuse',
    reason: 'DependencyNotReady',
    facts: { unreadable: shown, more: files.length - shown.length },
  }
}

export function createLimitReached({ surroundings }: CreateOnceInput): Action | undefined {
  const { createLimit } = surroundings
  if (createLimit === undefined) return undefined
  return { type: 'refuse', reason: 'CreateLimit', facts: createLimit }
}
