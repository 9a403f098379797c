import { kindNamed } from '../kinds/lookup.ts'
import { sha256 } from '../lib/digest.ts'
import type { ConditionType, Conditions } from '../plan/condition.ts'
import { wellnessOf, type Status, type Wellness, type Severity } from '../plan/severity.ts'
import { isToldAnew } from '../plan/conditions.ts'
import { REASONS, type Reason } from '../plan/reason.ts'
import type { ResourceStatus } from '../contract/status.ts'

/** The state of a resource, as far as somebody is to be notified of it. */
export interface AlertState {
  readonly wellness: Wellness
  readonly status: Status
  readonly severity: Severity
  /** The condition that says so, its reason and its message. */
  readonly condition: ConditionType
  readonly reason: Reason
  readonly message: string
  /** ms since the epoch. */
  readonly since: number
  /** Equal for states of which one message is enough. */
  readonly state: string
}

/** So long a pipe that was never healthy may take to become so, in ms; it may just have been created. */
const START_MS = 5 * 60_000

/** @param now ms since the epoch */
export function alertStateOf(resource: ResourceStatus, now: number): AlertState {
  const { status, conditions } = resource
  const condition = leading(status, conditions)
  const { reason, since } = conditions[condition]
  const message = withOtherDrift(resource, conditions[condition].message)
  const words = isToldAnew(reason) ? ` ${sha256(message).slice(0, 16)}` : ''
  return {
    wellness: isStarting(resource, now) ? 'between' : wellnessOf(status),
    status,
    severity: REASONS[reason].severity,
    condition,
    reason,
    message,
    since,
    state: `${status} ${condition} ${reason}${words}`,
  }
}

/** A field may drift behind a difference that was known before: the condition does not name it, and whoever knows of the first has to hear of it. */
function withOtherDrift({ status, differences }: ResourceStatus, message: string): string {
  if (status !== 'Drifted') return message
  const named = new Set(message.split(/[\s,()]+/).map((word) => word.replace(/[.:;]+$/, '')))
  const others = differences.map(({ field }) => field).filter((field) => !named.has(field))
  return others.length === 0 ? message : `${message} On the platform, ${others.join(', ')} differs as well.`
}

/** Its health did not change since it came to be in sync. */
function isStarting({ kind, status, conditions }: ResourceStatus, now: number): boolean {
  const { Synced, Ready } = conditions
  return (
    kindNamed(kind)?.lifecycle === 'create-once' &&
    status === 'NotReady' &&
    Ready.since <= Synced.since &&
    now - Ready.since < START_MS
  )
}

/** The condition that makes the status what it is (`statusOf` in `plan/conditions.ts`). */
function leading(status: Status, { Valid, Synced }: Conditions): ConditionType {
  if (Synced.reason === 'OutcomeUnknown') return 'Synced'
  if (Valid.status === 'False') return 'Valid'
  return status === 'NotReady' || status === 'Ready' ? 'Ready' : 'Synced'
}
