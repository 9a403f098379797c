import { z } from '../kinds/zod.ts'
import { WithoutManifest } from './without-manifest.ts'

/** Written by the working process into its ledger. Times are ms since the epoch. */
export const Activity = z
  // Not strict: a later version might have added fields before a rollback.
  .object({
    command: z.enum(['run', 'apply']),
    process: z.int(),
    host: z.string(),
    startedAt: z.number(),
    /** Absent while the process runs, and after a crash. */
    stoppedAt: z.number().optional(),
    url: z.string().optional(),
    revision: z.string().optional(),
    revisionSince: z.number().optional(),
    /** Why the last read of the manifests failed or was refused. */
    problem: z.string().optional(),
    errors: z.number().optional(),
    findings: z.string().optional(),
    /** Pipes that no Lock names. Absent without a Lock. */
    withoutLock: z.number().optional(),
    /** Absent if the platform cannot list pipes. */
    withoutManifest: z.array(WithoutManifest).readonly().optional(),
  })
  .readonly()
export type Activity = z.infer<typeof Activity>

export interface DaemonSummary extends Pick<
  Activity,
  'revisionSince' | 'problem' | 'errors' | 'findings' | 'withoutLock' | 'withoutManifest'
> {
  /** Due, but not checked since the daemon started. */
  readonly overdue?: number
}

/** `silent` owns the ledger but does not answer. `died` ended without a final write. */
export type RunState = 'running' | 'silent' | 'stopped' | 'died' | 'never'

/** @param owned whether a process holds the ledger */
export function runStateOf(last: Activity | undefined, owned: boolean): RunState {
  if (owned) return 'running'
  if (last === undefined) return 'never'
  return last.stoppedAt === undefined ? 'died' : 'stopped'
}
