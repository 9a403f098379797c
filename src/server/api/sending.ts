import { lifecycleOfStatus, type ResourceStatus } from '../../contract/status.ts'
import { MISSED } from '../../plan/reasons/not-found.ts'

/**
 * What becomes of the request of a manifest. `create`: it is sent, to create what is asked for. `apply`: it is sent when the manifest
 * changes, and again at its interval. `held`: something stands in its way, which the message names. `created`: it was created, and
 * cannot be updated, so that nothing is sent. Where the service can change what was created, these are `create-first` and `changed`: what changes
 * in the manifest later is sent.
 */
export type Sending = 'create' | 'create-first' | 'apply' | 'held' | 'created' | 'changed'

/** Of a resource whose manifest has a request. @param canChange whether the service changes what was created */
export function sendingOf(
  resource: Pick<ResourceStatus, 'key' | 'isWritten' | 'action' | 'reason' | 'pipeId' | 'conditions'>,
  canChange: boolean,
): Sending {
  const sending = unchangeable(resource)
  if (!canChange) return sending
  return sending === 'create' ? 'create-first' : sending === 'created' ? 'changed' : sending
}

function unchangeable(
  resource: Pick<ResourceStatus, 'key' | 'isWritten' | 'action' | 'reason' | 'pipeId' | 'conditions'>,
): Sending {
  const { action, pipeId } = resource
  if (lifecycleOfStatus(resource) !== 'create-once')
    return action === 'hold' || action === 'refuse' ? 'held' : 'apply'
  if (pipeId !== undefined && !isToBeReplaced(resource)) return 'created'
  return action === 'create' ? 'create' : 'held'
}

/** The pipe that is recorded is not found, or a new one is being created in its place: gates stand only before a creation. */
function isToBeReplaced({
  action,
  reason,
  conditions,
}: Pick<ResourceStatus, 'action' | 'reason' | 'conditions'>): boolean {
  if (action === 'create') return conditions.Synced.status !== 'True'
  return Object.hasOwn(MISSED, reason) || (action === 'refuse' && reason !== 'AdoptRefused')
}
