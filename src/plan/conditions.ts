import type { RawText } from '../lib/mask/secret-mask.ts'
import { isReadable } from '../kinds/definition.ts'
import { type Action, isAskedAgain } from './action.ts'
import { type Condition, type Conditions, type ConditionType, CONDITION_TYPES } from './condition.ts'
import type { Status } from './severity.ts'
import type { DecideInput } from './input.ts'
import { unknownOutcomeFacts, undecidedIntent, unansweredIntent, unknownFacts } from './outcome-unknown.ts'
import type { Outcome } from './outcome.ts'
import { readinessOf } from './readiness.ts'
import type { LedgerRecord } from './record.ts'
import { notVerified } from './unverified.ts'
import { sameJson } from '../lib/json.ts'
import { explained, REASONS, type Because, type Explanation, type FactsOf, type Reason } from './reason.ts'

type Claim = Omit<Condition, 'since'>

export interface ConditionsInput {
  readonly decided: DecideInput
  readonly action: Action
  readonly outcome: Outcome
  readonly recorded: LedgerRecord
  readonly state: RawText | undefined
  readonly previous: Conditions | undefined
}

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
    if (same && sameJson(before.facts, claim.facts)) return before
    return { ...claim, since: same ? before.since : decided.now }
  }
  const after: Conditions = { Valid: stamp('Valid'), Synced: stamp('Synced'), Ready: stamp('Ready') }
  return CONDITION_TYPES.every((type) => after[type] === previous?.[type]) ? (previous ?? after) : after
}

export function isRenotified(reason: Reason): boolean {
  return 'renotifies' in REASONS[reason]
}

export function changedConditions(
  before: Conditions | undefined,
  after: Conditions,
): readonly ConditionType[] {
  return CONDITION_TYPES.filter((type) => isOther(before?.[type], after[type]))
}

function isOther(before: Condition | undefined, after: Condition): boolean {
  if (before === undefined || !isSame(before, after)) return true
  return isRenotified(after.reason) && !sameJson(before.facts, after.facts)
}

function isSame(before: Condition, after: Claim): boolean {
  if (before.status !== after.status || before.reason !== after.reason) return false
  const [was, is] = [unjudgedState(before), unjudgedState(after)]
  return was === undefined || is === undefined || was.state === is.state
}

function unjudgedState({ reason, facts }: Claim): FactsOf<'NotJudged'> | undefined {
  return reason === 'NotJudged' && facts !== undefined && 'isInSync' in facts ? facts : undefined
}

function claimOf(status: Claim['status'], because: Because): Claim {
  return { status, ...explained(because) }
}

function validOf({ decided, previous }: ConditionsInput): Claim {
  const { desired } = decided
  switch (desired.state) {
    case 'valid':
      return claimOf('True', { reason: 'Valid', facts: undefined })
    case 'invalid': {
      const said = desired.problem ?? 'The manifest has errors.'
      const { mistake } = desired
      return claimOf('False', { reason: 'InvalidManifest', facts: { said, mistake } })
    }
    case 'missing':
      // A confirmed orphan keeps its condition, because a restart counts the reads anew.
      if (previous?.Valid.reason === 'Orphaned') return previous.Valid
      return claimOf('Unknown', { reason: 'ManifestVanishing', facts: {} })
    case 'absent':
      return claimOf('Unknown', { reason: 'Orphaned', facts: undefined })
  }
}

function syncedOf(input: ConditionsInput): Claim {
  const { action, outcome, previous, decided, recorded } = input
  if (outcome.result === 'stopped') return previous?.Synced ?? UNOBSERVED
  if (outcome.result === 'unknown')
    return claimOf('Unknown', { reason: 'OutcomeUnknown', facts: outcome.facts })
  if (outcome.result === 'failed') {
    const doubt = action.type === 'adopt' ? stillUnknown(decided, outcome) : undefined
    if (doubt !== undefined) return doubt
    const looking = action.type === 'observe' || action.type === 'report' || action.type === 'hold'
    return claimOf(looking ? 'Unknown' : 'False', outcome)
  }
  const told: Because = outcome.reason === undefined ? action : outcome
  const { reason } = told
  if (IN_SYNC.has(reason)) return inSync(decided, recorded)
  // After a restart, but not after an edit, a Service keeps its condition until a reply.
  const isEdited = decided.lifecycle === 'reference' && decided.contact !== undefined
  if (isUnanswered(told) && !isEdited && previous !== undefined && CONTACT.has(previous.Synced.reason))
    return previous.Synced
  if (action.type === 'hold') return heldSynced(action, decided, previous)
  return claimOf(NOT_KNOWN.has(reason) ? 'Unknown' : 'False', told)
}

const NOT_KNOWN = new Set<Reason>(['Unobserved', 'Orphaned', 'OutcomeUnknown'])

function inSync(decided: DecideInput, recorded: LedgerRecord): Claim {
  const { lifecycle, surroundings } = decided
  const isCreated = lifecycle === 'create-once'
  const doubt = isCreated ? notVerified({ ...decided, recorded }) : undefined
  if (doubt !== undefined) return claimOf('False', doubt)
  const gone = surroundings.missingSecrets.filter(({ why }) => isCreated && why !== 'no descriptor')
  const missing = gone.length === 0 ? undefined : gone
  const isRead = decided.kind.lifecycle === 'upsert' && isReadable(decided.kind)
  return claimOf('True', { reason: 'InSync', facts: { as: isRead ? 'read' : lifecycle, missing } })
}

const CONTACT = new Set<Reason>(['InSync', 'AuthFailed', 'Unavailable'])

export function isUnanswered({ reason, facts }: Explanation): boolean {
  return reason === 'Unobserved' && facts !== undefined && 'why' in facts && facts.why === 'not answered'
}

/** The create's outcome stays unknown, because the adoption that settles it failed. */
function stillUnknown(decided: DecideInput, why: Because): Claim | undefined {
  const { recorded, surroundings } = decided
  const intent = undecidedIntent(recorded)
  if (intent === undefined) return undefined
  const facts = { ...unknownFacts(recorded, intent, surroundings.knownIds), before: explained(why) }
  return claimOf('Unknown', { reason: 'OutcomeUnknown', facts })
}

function heldSynced(
  action: Action & { readonly type: 'hold' },
  decided: DecideInput,
  previous: Conditions | undefined,
): Claim {
  const { observed, desired } = decided
  const unknown = unknownOutcomeFacts(decided)
  if (unknown !== undefined)
    return claimOf('Unknown', {
      reason: 'OutcomeUnknown',
      facts: { ...unknown, before: withoutUnknown(action) },
    })
  const isCompared = observed.status === 'found' && desired.fingerprint !== undefined
  if (action.reason === 'InvalidManifest' && isCompared) {
    return observed.differences.length === 0
      ? claimOf('True', { reason: 'InSync', facts: { as: 'last valid' } })
      : claimOf('False', {
          reason: 'Drifted',
          facts: { fields: observed.differences.map(({ field }) => field), from: 'last valid' },
        })
  }
  const isOutdated = isHeldForLong(action, previous) || isBlind(action, decided)
  const keeps = (SYNCED_STAYS.has(action.reason) && !isOutdated) || isMissedAnew(action, previous)
  if (keeps && previous !== undefined && !isSettledSince(previous.Synced, decided)) return previous.Synced
  return claimOf('Unknown', action)
}

function withoutUnknown(because: Because): Explanation {
  const { reason, facts } = explained(because)
  const { unknown: _, ...others } = { unknown: undefined, ...facts }
  return { reason, facts: others }
}

const SYNCED_STAYS = new Set<Reason>(['BackingOff', 'InvalidManifest', 'ManifestVanishing'])

function isHeldForLong(action: Action, previous: Conditions | undefined): boolean {
  const isOfOlder = action.reason === 'ManifestVanishing' && action.facts.by === 'another checkout'
  return isOfOlder && previous?.Synced.reason !== 'Orphaned'
}

/** Whether this process read neither manifest nor resource, because the directory is rejected. */
function isBlind({ reason }: Action, { desired, observed, surroundings }: DecideInput): boolean {
  const isRejected = reason === 'ManifestVanishing' && surroundings.isDoubted
  return isRejected && desired.state === 'missing' && observed.status === 'unseen'
}

/** After a restart, conditions of a missing pipe stay the same while 404s are counted again. */
function isMissedAnew({ reason }: Action, previous: Conditions | undefined): boolean {
  if (reason !== 'MissingUnconfirmed' || previous === undefined) return false
  return REASONS[previous.Synced.reason].status === 'Missing'
}

function isSettledSince({ reason }: Condition, { recorded }: DecideInput): boolean {
  return reason === 'OutcomeUnknown' && undecidedIntent(recorded) === undefined
}

function readyOf({ decided, action, outcome, state, previous }: ConditionsInput, synced: Claim): Claim {
  if (outcome.result === 'stopped') return previous?.Ready ?? UNOBSERVED
  if (
    action.type === 'hold' &&
    action.reason !== 'InvalidManifest' &&
    previous !== undefined &&
    !isAskedAgain(action) &&
    !isJudged(decided, action)
  ) {
    const stays =
      (!READY_TOO.has(action.reason) && !isBlind(action, decided)) || isMissedAnew(action, previous)
    return stays && !isSettledSince(previous.Ready, decided) ? previous.Ready : briefly(synced)
  }
  if (isAskedAgain(outcome.result === 'done' && outcome.reason !== undefined ? outcome : action))
    return briefly(synced)
  const seen = outcome.result === 'done' && (action.type === 'create' || action.type === 'adopt')
  const isFound = decided.observed.status === 'found' && decided.lifecycle !== 'upsert'
  if (isFound && isHealthyAsBefore(decided, state, previous)) return previous.Ready
  if (isFound || seen) {
    const isNew = seen && action.type === 'create'
    const isInSync = synced.status === 'True'
    const { status, because } = readinessOf(decided, { state, isNew, isInSync, action })
    return claimOf(status, because)
  }
  if (synced.reason === 'Orphaned' && unansweredIntent(decided) !== undefined) return UNKNOWN_BRIEFLY
  if (synced.reason === 'Stalled') return { ...synced, status: 'False' }
  return briefly(synced)
}

function isJudged({ observed, desired }: DecideInput, { reason }: Action): boolean {
  return observed.status === 'found' && desired.fingerprint !== undefined && !READY_TOO.has(reason)
}

/** Without a valid manifest, policy.healthyStates is unknown, so a healthy state stays healthy. */
function isHealthyAsBefore(
  decided: DecideInput,
  state: RawText | undefined,
  previous: Conditions | undefined,
): previous is Conditions {
  const { desired } = decided
  if (desired.state !== 'invalid' || desired.fingerprint !== undefined) return false
  const healthy = { state: state === undefined ? undefined : decided.mask(state), by: 'policy.healthyStates' }
  return previous?.Ready.reason === 'Healthy' && sameJson(previous.Ready.facts, healthy)
}

const READY_TOO = new Set<Reason>(['Orphaned', 'Suspended', 'NeverSeen', 'MissingUnconfirmed', 'Missing'])

const UNKNOWN_BRIEFLY: Claim = { status: 'Unknown', reason: 'OutcomeUnknown' }

function briefly(claim: Claim): Claim {
  return claim.reason === 'OutcomeUnknown' ? UNKNOWN_BRIEFLY : claim
}

const UNOBSERVED: Claim = { status: 'Unknown', reason: 'Unobserved', facts: { why: 'waiting' } }

const IN_SYNC = new Set<Reason>(['InSync', 'Created', 'Adopted', 'Applied'])

export function statusOf(conditions: Conditions): Status {
  const { Valid, Synced, Ready } = conditions
  if (Synced.reason === 'OutcomeUnknown') return 'OutcomeUnknown'
  if (Valid.status === 'False') return 'Invalid'
  const { status } = REASONS[Synced.reason]
  if (status !== 'Ready') return status
  if (Synced.status !== 'True') return 'Progressing'
  return Ready.status === 'True' ? 'Ready' : Ready.status === 'False' ? 'NotReady' : 'Progressing'
}
