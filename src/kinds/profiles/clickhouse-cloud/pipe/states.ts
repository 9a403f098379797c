import type { KnownStates, RestStates } from '../../../state.ts'
import type { PipeManifest } from './schema.ts'
import { isDatabase, kindsOf, type PipeSource } from './source.ts'

const AT_REST = ['Stopped', 'Paused']

export const REST_STATES: RestStates = {
  atRest: AT_REST,
  stopping: ['Stopping', 'Pausing'],
  failed: ['Failed'],
  loading: ['Snapshot'],
  done: ['Completed'],
  deleting: ['Deleting'],
}

/** A stopped pipe is healthy only if the manifest has `policy.paused: true`. */
export function pipeStates({ spec, policy }: PipeManifest): KnownStates {
  const [kind] = kindsOf(spec.source)
  const ofDatabase = kind !== undefined && isDatabase(kind)
  const running = ['Running', ...(ofDatabase ? ['Snapshot'] : [])]
  const done = hasAnEnd(spec.source) ? ['Completed'] : []
  const isPaused = policy?.paused === true
  return {
    healthy: [...(isPaused ? AT_REST : running), ...done],
    moving: [
      ...(isPaused ? running : []),
      'Unknown',
      'Provisioning',
      ...(ofDatabase ? ['Setup', 'Pausing', 'Modifying', 'Resync'] : ['Stopping']),
    ],
    unhealthy: ['Degraded', 'Failed', 'InternalError', ...(isPaused ? [] : AT_REST)],
    ...REST_STATES,
    ...(isPaused && kind !== undefined && !ofDatabase && { startPaused: { startPaused: true } }),
  }
}

/** Whether the pipe completes, because it reads its files or tables only once. */
function hasAnEnd({ objectStorage, postgres, mysql, mongodb, bigquery }: PipeSource): boolean {
  if (objectStorage !== undefined) return objectStorage.isContinuous !== true
  const database = postgres ?? mysql ?? mongodb ?? bigquery
  return database?.settings.replicationMode === 'snapshot'
}
