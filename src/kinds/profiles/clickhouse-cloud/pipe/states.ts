import type { KnownStates } from '../../../state.ts'
import type { PipeManifest } from './schema.ts'
import { isDatabase, kindsOf, type PipeSource } from './source.ts'

/** Facts 6.1. At rest is not well unless somebody wants it so. */
export function pipeStates({ spec }: PipeManifest): KnownStates {
  const [kind] = kindsOf(spec.source)
  const ofDatabase = kind !== undefined && isDatabase(kind)
  return {
    healthy: [
      'Running',
      ...(ofDatabase ? ['Snapshot'] : []),
      ...(hasAnEnd(spec.source) ? ['Completed'] : []),
    ],
    moving: [
      'Unknown',
      'Provisioning',
      ...(ofDatabase ? ['Setup', 'Pausing', 'Modifying', 'Resync'] : ['Stopping']),
    ],
    unhealthy: ['Degraded', 'Failed', 'InternalError', 'Stopped', 'Paused'],
  }
}

/** Files that are read once, and tables that are copied once. */
function hasAnEnd({ objectStorage, postgres, mysql, mongodb, bigquery }: PipeSource): boolean {
  if (objectStorage !== undefined) return objectStorage.isContinuous !== true
  const database = postgres ?? mysql ?? mongodb ?? bigquery
  return database?.settings.replicationMode === 'snapshot'
}
