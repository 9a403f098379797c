import type { RawText } from '../lib/mask/secret-mask.ts'
import { isReadable } from '../kinds/definition.ts'
import type { Key } from '../kinds/key.ts'
import type { Action } from './action.ts'
import { type Condition, type Conditions, type ConditionType, CONDITION_TYPES } from './condition.ts'
import type { Status } from './severity.ts'
import type { DecideInput } from './input.ts'
import { unknownOutcomeOf, undecidedIntent, unansweredIntent, unknownFacts } from './outcome-unknown.ts'
import type { Outcome } from './outcome.ts'
import { readinessOf } from './readiness.ts'
import type { LedgerRecord } from './record.ts'
import { notVerified } from './unverified.ts'
import { isKept, messageOf, REASONS, type Because, type FactsOf, type Reason } from './reason.ts'

type Claim = Omit<Condition, 'since'>

export interface ConditionsInput {
  readonly decided: DecideInput
  readonly action: Action
  readonly outcome: Outcome
  /** The record after the action. */
  readonly recorded: LedgerRecord
  /** `state` as the platform reported it last in this reconcile. */
  readonly state: RawText | undefined
  readonly previous: Conditions | undefined
}

/** The conditions after a reconcile; `since` stays while status and reason stay, and the state that nobody judged. */
export function conditionsAfter(input: ConditionsInput): Conditions {
  const { previous, decided } = input
  const synced = syncedOf(input)
  const claims: Record<ConditionType, Claim> = {
    Valid: validOf(input),
    Synced: synced,
    Ready: readyOf(input, synced),
  }
  const stamp = (type: ConditionType): Condition => {
    const before = previous?.[type]
    const claim = claims[type]
    const same = before !== undefined && isSame(before, claim)
    // The message holds every fact; one of an earlier version has none beside it.
    const isKnown = before?.facts !== undefined || claim.facts === undefined
    if (same && before.message === claim.message && isKnown) return before
    return { ...claim, since: same ? before.since : decided.now }
  }
  const after: Conditions = { Valid: stamp('Valid'), Synced: stamp('Synced'), Ready: stamp('Ready') }
  // The very same where nothing changed: whoever shows them holds no copy.
  return CONDITION_TYPES.every((type) => after[type] === previous?.[type]) ? (previous ?? after) : after
}

/** Whether another message under the same reason is news too. */
export function isToldAnew(reason: Reason): boolean {
  return 'toldAnew' in REASONS[reason]
}

/** The types that say something else than before: by status, by reason, or by what the reason names. */
export function changedConditions(
  before: Conditions | undefined,
  after: Conditions,
): readonly ConditionType[] {
  return CONDITION_TYPES.filter((type) => isOther(before?.[type], after[type]))
}

function isOther(before: Condition | undefined, after: Condition): boolean {
  if (before === undefined || !isSame(before, after)) return true
  return isToldAnew(after.reason) && before.message !== after.message
}

/** Whether it says the same, however it words it. A state that nobody judged stands for itself. */
function isSame(before: Condition, after: Claim): boolean {
  if (before.status !== after.status || before.reason !== after.reason) return false
  const [was, is] = [unjudgedState(before), unjudgedState(after)]
  return was === undefined || is === undefined || was.state === is.state
}

/** Undefined: it is of another reason, or an earlier version kept none. */
function unjudgedState({ reason, facts }: Claim): FactsOf<'NotJudged'> | undefined {
  return reason === 'NotJudged' && facts !== undefined && 'isInSync' in facts ? facts : undefined
}

function claimOf({ recorded }: DecideInput, status: Claim['status'], because: Because): Claim {
  const { reason, facts } = because
  const message = messageOf(because, recorded.key)
  return isKept(reason) && facts !== undefined
    ? { status, reason, message, facts }
    : { status, reason, message }
}

function validOf({ decided, previous }: ConditionsInput): Claim {
  const { desired } = decided
  switch (desired.state) {
    case 'valid':
      return claimOf(decided, 'True', { reason: 'Valid', facts: undefined })
    case 'invalid': {
      const said = desired.problem ?? 'The manifest has errors.'
      const { mistake } = desired
      return claimOf(decided, 'False', { reason: 'InvalidManifest', facts: { said, mistake } })
    }
    case 'missing':
      // A process that has just started counts anew what the one before it was sure of.
      if (previous?.Valid.reason === 'Orphaned') return previous.Valid
      return claimOf(decided, 'Unknown', { reason: 'ManifestVanishing', facts: {} })
    case 'absent':
      return claimOf(decided, 'Unknown', { reason: 'Orphaned', facts: undefined })
  }
}

function syncedOf(input: ConditionsInput): Claim {
  const { action, outcome, previous, decided, recorded } = input
  if (outcome.result === 'stopped') return previous?.Synced ?? unobserved(decided, action)
  if (outcome.result === 'unknown')
    return claimOf(decided, 'Unknown', { reason: 'OutcomeUnknown', facts: outcome.facts })
  if (outcome.result === 'failed') {
    const doubt =
      action.type === 'adopt' ? stillUnknown(decided, messageOf(outcome, decided.recorded.key)) : undefined
    if (doubt !== undefined) return doubt
    const looking = action.type === 'observe' || action.type === 'report' || action.type === 'hold'
    return claimOf(decided, looking ? 'Unknown' : 'False', outcome)
  }
  const told: Because = outcome.reason === undefined ? action : outcome
  const { reason } = told
  // However it came to be in sync, it is: the condition does not change again at the next reading.
  if (IN_SYNC.has(reason)) return inSync(decided, recorded)
  // What the process before this one found out stands until this one knows better.
  if (reason === 'Unanswered' && previous !== undefined && CONTACT.has(previous.Synced.reason))
    return previous.Synced
  switch (action.type) {
    case 'create':
    case 'adopt':
    case 'upsert':
    case 'update':
    case 'observe':
      return claimOf(
        decided,
        reason === 'InUse' ? 'True' : NOT_KNOWN_YET.has(reason) ? 'Unknown' : 'False',
        told,
      )
    case 'report':
    case 'delete':
      return claimOf(decided, reason === 'Orphaned' ? 'Unknown' : 'False', told)
    case 'refuse':
      return claimOf(decided, reason === 'OutcomeUnknown' ? 'Unknown' : 'False', told)
    case 'hold':
      return heldSynced(action, decided, previous)
  }
}

/** A pipe that is there needs its secrets no more: those that are gone do not make it less well, and are told beside. */
function inSync(decided: DecideInput, recorded: LedgerRecord): Claim {
  const { lifecycle, surroundings } = decided
  const doubt = lifecycle === 'create-once' ? notVerified({ ...decided, recorded }) : undefined
  if (doubt !== undefined) return claimOf(decided, 'False', doubt)
  const gone =
    lifecycle === 'create-once'
      ? surroundings.missingSecrets.filter(({ why }) => why !== 'no descriptor')
      : []
  const missing = gone.length === 0 ? undefined : gone
  const isRead = decided.kind.lifecycle === 'upsert' && isReadable(decided.kind)
  return claimOf(decided, 'True', { reason: 'InSync', facts: { as: isRead ? 'read' : lifecycle, missing } })
}

const NOT_KNOWN_YET: ReadonlySet<Reason> = new Set(['Unobserved', 'Unanswered'])

/** What requests to a service came to. */
const CONTACT: ReadonlySet<Reason> = new Set(['InUse', 'AuthFailed', 'Unavailable'])

/** The answer that was given for a create of unknown outcome turned out to be none. @param before what became of it, in words */
function stillUnknown(decided: DecideInput, before: string): Claim | undefined {
  const { recorded, surroundings } = decided
  const intent = undecidedIntent(recorded)
  if (intent === undefined) return undefined
  const facts = { ...unknownFacts(recorded, intent, surroundings.knownIds), before }
  return claimOf(decided, 'Unknown', { reason: 'OutcomeUnknown', facts })
}

/** What a hold leaves standing. */
function heldSynced(
  action: Action & { readonly type: 'hold' },
  decided: DecideInput,
  previous: Conditions | undefined,
): Claim {
  const { observed, desired } = decided
  const unknown = unknownOutcomeOf(decided)
  if (unknown !== undefined)
    return claimOf(decided, 'Unknown', {
      reason: 'OutcomeUnknown',
      facts: { ...unknown, before: withoutUnknown(action, decided.recorded.key) },
    })
  const isCompared = observed.status === 'found' && desired.fingerprint !== undefined
  if (action.reason === 'InvalidManifest' && isCompared) {
    return observed.differences.length === 0
      ? claimOf(decided, 'True', { reason: 'InSync', facts: { as: 'last valid' } })
      : claimOf(decided, 'False', {
          reason: 'Drifted',
          facts: { fields: observed.differences.map(({ field }) => field), from: 'last valid' },
        })
  }
  const keeps =
    (SYNCED_STAYS.has(action.reason) && !isHeldForLong(action, previous)) || isMissedAnew(action, previous)
  if (keeps && previous !== undefined && !isSettledSince(previous.Synced, decided)) return previous.Synced
  return claimOf(decided, 'Unknown', action)
}

/** What a hold says of itself, in words. */
function withoutUnknown({ reason, facts }: Because, key: Key): string {
  const hasUnknown = facts !== undefined && 'unknown' in facts
  return messageOf({ reason, facts: hasUnknown ? { ...facts, unknown: undefined } : facts }, key)
}

const SYNCED_STAYS: ReadonlySet<Reason> = new Set(['BackingOff', 'InvalidManifest', 'ManifestVanishing'])

/** What is not found in a checkout that may be older is not found for longer than a reading or two. What is known to be an orphan stays one. */
function isHeldForLong(action: Action, previous: Conditions | undefined): boolean {
  const isOfOlder = action.reason === 'ManifestVanishing' && action.facts.by === 'another checkout'
  return isOfOlder && previous?.Synced.reason !== 'Orphaned'
}

/** What a process before this one found out by 404s that this one has to count anew. */
const COUNTED: ReadonlySet<Reason> = new Set(['MassMissing', 'Missing', 'NeverSeen', 'ReplacedRecently'])

/** Whether a pipe is still not found, as it was: until that is proved again, there is nothing new to say. */
function isMissedAnew(action: Action, previous: Conditions | undefined): boolean {
  return (
    action.reason === 'MissingUnconfirmed' && previous !== undefined && COUNTED.has(previous.Synced.reason)
  )
}

/** It said that an outcome is not known, and by now it is. */
function isSettledSince({ reason }: Condition, { recorded }: DecideInput): boolean {
  return reason === 'OutcomeUnknown' && undecidedIntent(recorded) === undefined
}

function readyOf({ decided, action, outcome, state, previous }: ConditionsInput, synced: Claim): Claim {
  if (outcome.result === 'stopped') return previous?.Ready ?? unobserved(decided, action)
  if (
    action.type === 'hold' &&
    action.reason !== 'InvalidManifest' &&
    previous !== undefined &&
    !isGoing(action)
  ) {
    const stays = !READY_TOO.has(action.reason) || isMissedAnew(action, previous)
    return stays && !isSettledSince(previous.Ready, decided) ? previous.Ready : briefly(synced)
  }
  if (isGoing(outcome.result === 'done' && outcome.reason !== undefined ? outcome : action))
    return briefly(synced)
  const seen = outcome.result === 'done' && (action.type === 'create' || action.type === 'adopt')
  // What is set as a whole has no state of its own: it is ready once it is as asked.
  const isFound = decided.observed.status === 'found' && decided.lifecycle !== 'upsert'
  if (isFound && isHealthyAsBefore(decided, state, previous)) return previous.Ready
  if (isFound || seen) {
    const isNew = seen && action.type === 'create'
    const isInSync = synced.status === 'True'
    const { status, because } = readinessOf(decided, { state, isNew, isInSync, action })
    return claimOf(decided, status, because)
  }
  if (synced.reason === 'Orphaned' && unansweredIntent(decided) !== undefined) return UNKNOWN_BRIEFLY
  if (synced.reason === 'Stalled') return { ...synced, status: 'False' }
  return briefly(synced)
}

/** The request to delete it was sent. */
function isGoing({ reason, facts }: Because): boolean {
  return reason === 'Deleting' && facts.removal.is === 'going'
}

/** Which states are healthy stands in a manifest that nobody can read now: the one that it called healthy stays so. */
function isHealthyAsBefore(
  decided: DecideInput,
  state: RawText | undefined,
  previous: Conditions | undefined,
): previous is Conditions {
  const { desired } = decided
  if (desired.state !== 'invalid' || desired.fingerprint !== undefined) return false
  const healthy = claimOf(decided, 'True', {
    reason: 'Healthy',
    facts: { state: state === undefined ? undefined : decided.mask(state), by: 'policy.healthyStates' },
  })
  return previous?.Ready.reason === 'Healthy' && previous.Ready.message === healthy.message
}

/** Reasons to hold that say something about readiness too; the others leave standing what was known of it. */
const READY_TOO: ReadonlySet<Reason> = new Set([
  'Orphaned',
  'Suspended',
  'NeverSeen',
  'MissingUnconfirmed',
  'ReplacedRecently',
])

/** What to do about an unknown outcome is long, and stands in one condition only. */
const UNKNOWN_BRIEFLY: Claim = {
  status: 'Unknown',
  reason: 'OutcomeUnknown',
  message: 'Nobody knows whether it exists.',
}

function briefly(claim: Claim): Claim {
  return claim.reason === 'OutcomeUnknown' ? UNKNOWN_BRIEFLY : claim
}

/** A stop came before anything was known. */
function unobserved({ recorded }: DecideInput, action: Action): Claim {
  return { status: 'Unknown', reason: 'Unobserved', message: messageOf(action, recorded.key) }
}

const IN_SYNC: ReadonlySet<Reason> = new Set([
  'InSync',
  'Accepted',
  'Created',
  'FoundByRead',
  'Adopted',
  'Applied',
])

/** One word for the conditions, worst first. */
export function statusOf(conditions: Conditions): Status {
  const { Valid, Synced, Ready } = conditions
  if (Synced.reason === 'OutcomeUnknown') return 'OutcomeUnknown'
  if (Valid.status === 'False') return 'Invalid'
  const { status } = REASONS[Synced.reason]
  if (status !== 'Ready') return status
  if (Synced.status !== 'True') return 'Progressing'
  return Ready.status === 'True' ? 'Ready' : Ready.status === 'False' ? 'NotReady' : 'Progressing'
}
