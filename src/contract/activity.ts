import { z } from '../kinds/zod.ts'
import { WithoutManifest } from './without-manifest.ts'

/** Facts that the daemon or `apply` records about its own process. Times are ms since the epoch. */
export const Activity = z
  // Not strict, because a newer version of Pipewright can write more fields.
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
    problem: z.string().optional(),
    errors: z.number().optional(),
    findings: z.string().optional(),
    /** Number of pipes whose id is in no Lock. */
    withoutLock: z.number().optional(),
    withoutManifest: z.array(WithoutManifest).readonly().optional(),
  })
  .readonly()
export type Activity = z.infer<typeof Activity>

export interface DaemonSummary extends Pick<
  Activity,
  'revisionSince' | 'problem' | 'errors' | 'findings' | 'withoutLock' | 'withoutManifest'
> {
  /** Number of resources that this daemon has not checked yet, although their interval is over. */
  readonly overdue?: number
}

/** `silent`: the process that has the ledger open does not answer. `died`: the last process left no `stoppedAt`. */
export type RunState = 'running' | 'silent' | 'stopped' | 'died' | 'never'

export function runStateOf(last: Activity | undefined, owned: boolean): RunState {
  if (owned) return 'running'
  if (last === undefined) return 'never'
  return last.stoppedAt === undefined ? 'died' : 'stopped'
}
