import type { Key } from '../kinds/key.ts'
import { z } from '../kinds/zod.ts'
import { WithoutManifest } from './without-manifest.ts'

/** A process that works with a ledger, or did last: what it says of itself now and then. Times are ms since the epoch. */
export const Activity = z
  // Not strict: a later version may have said more, before it was rolled back.
  .object({
    command: z.enum(['run', 'apply']),
    process: z.int(),
    host: z.string(),
    startedAt: z.number(),
    /** When it last said that it lives. */
    seenAt: z.number(),
    /** Absent: it runs, or it ended without a word. */
    stoppedAt: z.number().optional(),
    /** Of its page. */
    url: z.string().optional(),
    /** The profile. Absent: the default one. */
    profile: z.string().optional(),
    /** The directory of its manifests: absolute. */
    manifests: z.string().optional(),
    /** Where its platform answers. Absent: it is the sandbox. */
    baseUrl: z.string().optional(),
    /** The directories of its secrets, where they are not the standard ones: absolute. */
    credentialsDir: z.string().optional(),
    secretsDir: z.string().optional(),
    /** In force. */
    revision: z.string().optional(),
    /** Since when it is there: ms since the epoch. */
    revisionSince: z.number().optional(),
    /** Why the last reading of the manifests failed or is not believed, in words. */
    problem: z.string().optional(),
    /** Errors in manifests. */
    errors: z.number().optional(),
    /** Of all that is said of manifests: see `findings-digest.ts`. */
    findings: z.string().optional(),
    /** Resources that it has not checked since it started, although they were due. */
    overdue: z.number().optional(),
    /** Resources with a valid manifest that were not reconciled yet, by any process. */
    unreconciled: z.number().optional(),
    /** Pipes whose id is in no Lock; absent, too, where there is no Lock. */
    withoutLock: z.number().optional(),
    /** Pipes that no manifest holds; absent where the platform does not list its pipes. */
    withoutManifest: z.array(WithoutManifest).readonly().optional(),
  })
  .readonly()
export type Activity = z.infer<typeof Activity>

/** What a process says of the whole: all that is not said of one resource. */
export type WholeFacts = Pick<
  Activity,
  | 'revisionSince'
  | 'problem'
  | 'errors'
  | 'findings'
  | 'overdue'
  | 'unreconciled'
  | 'withoutLock'
  | 'withoutManifest'
>

/** A process says that it lives this often: ms. */
export const HEARTBEAT_MS = 30_000

/** One that lives is not silent for so long: then its last sign of life is told. A heartbeat, and time to write it: ms. */
export const LATE_MS = HEARTBEAT_MS + 5_000

/** After so many that did not come, a process that holds the ledger does not respond. */
const MISSED_HEARTBEATS = 4

/** Whether somebody works with a ledger. `silent`: it holds the ledger, and has not said so for a while. `died`: it ended without a word. */
export type RunState = 'running' | 'silent' | 'stopped' | 'died' | 'never'

/** @param owned whether a process holds the ledger now */
export function runStateOf(last: Activity | undefined, owned: boolean, now: number): RunState {
  if (owned) {
    const isSilent = last !== undefined && now - last.seenAt > MISSED_HEARTBEATS * HEARTBEAT_MS
    return isSilent ? 'silent' : 'running'
  }
  if (last === undefined) return 'never'
  return last.stoppedAt === undefined ? 'died' : 'stopped'
}

/** What a ledger says of the process that works with it, and when each resource was last read on the platform. */
export interface ActivityReading {
  readonly last: Activity | undefined
  /** Undefined: only the process that reads them knows. */
  readonly checkedAt: ReadonlyMap<Key, number> | undefined
}
