import type { Action } from './action.ts'
import type { Condition, Conditions, ConditionType, Status } from './condition.ts'
import { CONDITION_TYPES } from './condition.ts'
import type { DecideInput } from './input.ts'
import { outcomeUnknownWords, unansweredIntent, undecidedIntent } from './outcome-unknown.ts'
import type { Outcome } from './outcome.ts'
import type { Reason } from './reason.ts'

type Claim = Omit<Condition, 'since'>

export interface ConditionsInput {
  readonly decided: DecideInput
  readonly action: Action
  readonly outcome: Outcome
  /** `state` as the platform reported it last in this reconcile. */
  readonly state: string | undefined
  readonly previous: Conditions | undefined
}

/** The conditions after a reconcile; `since` stays while status and reason stay. */
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
    const same = before !== undefined && before.status === claim.status && before.reason === claim.reason
    if (same && before.message === claim.message) return before
    return { ...claim, since: same ? before.since : decided.now }
  }
  const after: Conditions = { Valid: stamp('Valid'), Synced: stamp('Synced'), Ready: stamp('Ready') }
  // The very same where nothing changed: whoever shows them holds no copy.
  return CONDITION_TYPES.every((type) => after[type] === previous?.[type]) ? (previous ?? after) : after
}

/** Reasons whose message says something more that a person wants to hear of when it changes: fields, a state, a finding. */
const TOLD_ANEW: ReadonlySet<Reason> = new Set([
  'Drifted',
  'NotUpdatable',
  'SecretRotated',
  'UnhealthyState',
  'InvalidManifest',
])

/** Whether another message under the same reason is news too. */
export function isToldAnew(reason: Reason): boolean {
  return TOLD_ANEW.has(reason)
}

/** The types that say something else than before: by status, by reason, or by what the reason names. */
export function changedConditions(
  before: Conditions | undefined,
  after: Conditions,
): readonly ConditionType[] {
  return CONDITION_TYPES.filter((type) => isOther(before?.[type], after[type]))
}

function isOther(before: Condition | undefined, after: Condition): boolean {
  if (before?.status !== after.status || before.reason !== after.reason) return true
  return isToldAnew(after.reason) && before.message !== after.message
}

function validOf({ decided }: ConditionsInput): Claim {
  switch (decided.desired.state) {
    case 'valid':
      return { status: 'True', reason: 'Valid', message: 'The manifest is valid.' }
    case 'invalid':
      return {
        status: 'False',
        reason: 'InvalidManifest',
        message: decided.desired.problem ?? 'The manifest has errors.',
      }
    case 'vanishing':
      return { status: 'Unknown', reason: 'ManifestVanishing', message: 'The manifest was not found.' }
    case 'absent':
      return { status: 'Unknown', reason: 'Orphaned', message: 'The manifest is gone.' }
  }
}

function syncedOf(input: ConditionsInput): Claim {
  const { action, outcome, previous, decided } = input
  if (outcome.result === 'stopped') return previous?.Synced ?? unobserved(action)
  if (outcome.result === 'unknown')
    return { status: 'Unknown', reason: 'OutcomeUnknown', message: outcome.message }
  if (outcome.result === 'failed') {
    const doubt = action.type === 'adopt' ? stillUnknown(decided) : undefined
    if (doubt !== undefined)
      return { status: 'Unknown', reason: 'OutcomeUnknown', message: `${outcome.message} ${doubt}` }
    const looking = action.type === 'observe' || action.type === 'report' || action.type === 'hold'
    return { status: looking ? 'Unknown' : 'False', reason: outcome.reason, message: outcome.message }
  }
  const told = outcome.reason ?? action.reason
  // However it came to be in sync, it is: the condition does not change again at the next look.
  if (IN_SYNC.has(told)) return { status: 'True', reason: 'InSync', message: inSyncWords(decided) }
  const reason = told
  const message = outcome.message ?? action.message
  switch (action.type) {
    case 'create':
    case 'adopt':
    case 'upsert':
    case 'observe':
      return {
        status: reason === 'InUse' ? 'True' : reason === 'Unobserved' ? 'Unknown' : 'False',
        reason,
        message,
      }
    case 'report':
      return { status: reason === 'Orphaned' ? 'Unknown' : 'False', reason, message }
    case 'refuse':
      return { status: reason === 'OutcomeUnknown' ? 'Unknown' : 'False', reason, message }
    case 'hold':
      return heldSynced(action, decided, previous)
  }
}

/** The answer that was given for a create of unknown outcome turned out to be none. */
function stillUnknown({ desired, recorded, surroundings }: DecideInput): string | undefined {
  const intent = undecidedIntent(recorded)
  if (intent === undefined) return undefined
  return outcomeUnknownWords({ key: desired.key, record: recorded, intent, knownIds: surroundings.knownIds })
}

/** What a hold leaves standing. */
function heldSynced(action: Action, decided: DecideInput, previous: Conditions | undefined): Claim {
  const { observed } = decided
  if (unansweredIntent(decided) !== undefined)
    return { status: 'Unknown', reason: 'OutcomeUnknown', message: action.message }
  if (action.reason === 'InvalidManifest' && observed.status === 'found') {
    return observed.differences.length === 0
      ? {
          status: 'True',
          reason: 'InSync',
          message: 'The platform reports what the last valid manifest asks for.',
        }
      : {
          status: 'False',
          reason: 'Drifted',
          message: `The platform reports other values than the last valid manifest for ${observed.differences.map((d) => d.field).join(', ')}.`,
        }
  }
  const keeps = SYNCED_STAYS.has(action.reason) || isMissedAnew(action, previous)
  if (keeps && previous !== undefined && !isSettledSince(previous.Synced, decided)) return previous.Synced
  return { status: 'Unknown', reason: action.reason, message: action.message }
}

const SYNCED_STAYS: ReadonlySet<Reason> = new Set(['BackingOff', 'InvalidManifest', 'ManifestVanishing'])

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
  if (outcome.result === 'stopped') return previous?.Ready ?? unobserved(action)
  if (action.type === 'hold' && action.reason !== 'InvalidManifest' && previous !== undefined) {
    const stays = !READY_TOO.has(action.reason) || isMissedAnew(action, previous)
    return stays && !isSettledSince(previous.Ready, decided) ? previous.Ready : briefly(synced)
  }
  const { policy, observed } = decided
  const seen = outcome.result === 'done' && (action.type === 'create' || action.type === 'adopt')
  if (observed.status === 'found' || seen) {
    const healthy = policy.healthyStates
    if (healthy === undefined || (state !== undefined && healthy.includes(state))) {
      return {
        status: 'True',
        reason: 'Healthy',
        message: state === undefined ? 'It exists.' : `Its state is ${state}.`,
      }
    }
    return {
      status: 'False',
      reason: 'UnhealthyState',
      message: `Its state is ${state ?? 'not told'}; policy.healthyStates names ${healthy.join(', ')}.`,
    }
  }
  if (synced.reason === 'Orphaned' && unansweredIntent(decided) !== undefined)
    return briefly({ ...synced, reason: 'OutcomeUnknown' })
  if (synced.reason === 'Stalled') return { ...synced, status: 'False' }
  return briefly(synced)
}

/** Reasons to hold that say something about readiness too; the others leave standing what was known of it. */
const READY_TOO: ReadonlySet<Reason> = new Set([
  'Suspended',
  'NeverSeen',
  'MissingUnconfirmed',
  'ReplacedRecently',
])

/** What to do about an unknown outcome is long, and told once. */
function briefly(claim: Claim): Claim {
  return claim.reason === 'OutcomeUnknown'
    ? { ...claim, message: 'Nobody knows whether it exists; see Synced.' }
    : claim
}

function unobserved(action: Action): Claim {
  return { status: 'Unknown', reason: 'Unobserved', message: action.message }
}

const IN_SYNC: ReadonlySet<Reason> = new Set([
  'InSync',
  'Accepted',
  'Created',
  'FoundByRead',
  'Adopted',
  'Applied',
])

function inSyncWords({ lifecycle, kind }: DecideInput): string {
  switch (lifecycle) {
    case 'create-once':
      return 'The platform reports what the manifest asks for.'
    case 'upsert':
      return 'The last reply said what the manifest asks for.'
    case 'read-only':
      return `The ${kind.noun} is what the manifest expects.`
    case 'reference':
      return 'Its credentials are mounted and were not refused.'
  }
}

/** One word for the conditions, worst first. */
export function statusOf(conditions: Conditions): Status {
  const { Valid, Synced, Ready } = conditions
  if (Synced.reason === 'OutcomeUnknown') return 'OutcomeUnknown'
  if (Valid.status === 'False') return 'Invalid'
  const bySynced = STATUS_OF_REASON[Synced.reason]
  if (bySynced !== undefined) return bySynced
  if (Synced.status !== 'True') return 'Progressing'
  return Ready.status === 'True' ? 'Ready' : Ready.status === 'False' ? 'NotReady' : 'Progressing'
}

const STATUS_OF_REASON: Partial<Record<Reason, Status>> = {
  Missing: 'Missing',
  MassMissing: 'Missing',
  Rejected: 'Failed',
  AuthFailed: 'Failed',
  RateLimited: 'Failed',
  Unavailable: 'Failed',
  LedgerFailed: 'Failed',
  OutcomeUnsaved: 'Failed',
  ServiceIdle: 'NotReady',
  NeverSeen: 'Missing',
  ReplacedRecently: 'Missing',
  RenameSuspected: 'Refused',
  NameTaken: 'Refused',
  RenameWaiting: 'Refused',
  CreateBrake: 'Refused',
  DependencyNotReady: 'Refused',
  SecretUnavailable: 'Refused',
  LockUnreadable: 'Refused',
  ServiceInvalid: 'Refused',
  AdoptRefused: 'Refused',
  Drifted: 'Drifted',
  NotUpdatable: 'Drifted',
  SecretRotated: 'Drifted',
  Stalled: 'Drifted',
  Orphaned: 'Orphaned',
  Suspended: 'Suspended',
}
