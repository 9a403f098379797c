import type { Condition } from '../plan/condition.ts'
import type { ResourceStatus } from '../reconcile/status.ts'

/** The condition that a resource's status and reason come from. */
export function tellingCondition({ conditions, reason }: ResourceStatus): Condition {
  const { Valid, Synced, Ready } = conditions
  if (Valid.status === 'False') return Valid
  return Ready.reason === reason && Synced.reason !== reason ? Ready : Synced
}

/** Since when a resource is as it is: ms since the epoch. */
export function sinceOf(resource: ResourceStatus): number {
  return tellingCondition(resource).since
}
