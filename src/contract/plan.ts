import type { Difference } from '../kinds/difference.ts'
import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import { z } from '../kinds/zod.ts'
import type { JsonObject } from '../lib/json.ts'
import type { ActionType } from '../plan/action.ts'
import type { Reason } from '../plan/reason.ts'

/**
 * What a planned action means for whoever is about to let it happen. `change`: something is created, taken over, applied or renamed.
 * `waits`: for a change of this very plan. `refused`: what the manifest asks for would not be done. `failed`: it could not be found out.
 * `attention`: it differs, or is gone, and nothing is done about it. `held`: it is left as it is. `unchanged`: it is as it should be.
 */
export const VERDICTS = ['failed', 'refused', 'change', 'waits', 'attention', 'held', 'unchanged'] as const

export type Verdict = (typeof VERDICTS)[number]

/** What would happen to one key. Nothing in it is secret: sensitive values are masked. */
export interface PlanItem {
  readonly key: Key
  readonly action: ActionType
  readonly reason: Reason
  readonly verdict: Verdict
  readonly message: string
  /** Keys of `policy.dependsOn`, which come first. */
  readonly after: readonly Key[]
  /** Those of them that are not ready, where it waits for them. */
  readonly waitsFor: readonly Key[]
  /** The key whose record becomes this one's. */
  readonly renamedFrom: Key | undefined
  readonly service:
    { readonly name: string; readonly organizationId: string; readonly serviceId: string } | undefined
  /** In a word or two each, such as `source: kafka`. */
  readonly outline: Readonly<Record<string, string>>
  /** The name on the platform. */
  readonly platformName: string | undefined
  /** The id on the platform of what is there, or is to be taken over. */
  readonly remoteId: string | undefined
  /** What is there, as far as the manifest speaks of it; undefined when there is nothing, or nobody knows what. */
  readonly before: JsonObject | undefined
  /** What the manifest asks for; undefined when nothing is to be shown. */
  readonly desired: JsonObject | undefined
  readonly differences: readonly Difference[]
  /** Access that an upsert gives, such as `role sql_console_admin`. */
  readonly gives: readonly string[]
  readonly takesAway: readonly string[]
  /** Secrets `name/key` of its source that are not mounted here, so that nothing was checked about them. */
  readonly uncheckedSecrets: readonly string[]
  readonly file: string | undefined
  readonly line: number | undefined
}

/** A service in which the create limit refuses all that is wanted. */
export interface PlanLimited {
  readonly service: string
  readonly wanted: number
  /** Within the last hour. */
  readonly made: number
  /** When it passes by itself: ms since the epoch. */
  readonly until: number | undefined
}

/** A ledger that is not there: as if nothing had ever been recorded. */
export interface MissingLedger {
  readonly file: string
  /** Whether a daemon would start without one. */
  readonly init: 'auto' | 'never'
}

/** A plan is a value; `-o json` prints it as it is. */
export interface Plan {
  readonly revision: string
  readonly manifests: string
  /** The ledger that was looked for in vain, so that this is what a first run would do; undefined: there is one. */
  readonly missingLedger: MissingLedger | undefined
  /** Why the manifests do not count as they are. */
  readonly problem: string | undefined
  readonly createLimit: {
    /** In all services. */
    readonly wanted: number
    /** Of each service; null: none. */
    readonly limit: number | null
    readonly reached: boolean
    /** The first of the services in which it is reached. */
    readonly services: readonly PlanLimited[]
  }
  /** Items that a running daemon checked itself a while ago, so that nothing was read for them; and how long ago at most, in ms. */
  readonly checkedBefore: { readonly items: number; readonly oldestMs: number }
  /** How many items have each verdict. */
  readonly counts: Readonly<Record<Verdict, number>>
  /** In the order of their keys. */
  readonly items: readonly PlanItem[]
  readonly findings: readonly Finding[]
}

/** `changes`: something would be done. `refused`: something would not be, or could not be found out. */
export type PlanEnd = 'nothing' | 'changes' | 'refused'

export function endOfPlan({ items, findings, problem }: Plan): PlanEnd {
  const wrong = findings.some((finding) => finding.severity === 'error')
  if (wrong || problem !== undefined || items.some(isRefused)) return 'refused'
  return items.some(({ verdict }) => verdict === 'change') ? 'changes' : 'nothing'
}

/** What is taken over and differs is not what the manifest asks for, and stays so. */
function isRefused({ verdict, action, differences }: PlanItem): boolean {
  return verdict === 'refused' || verdict === 'failed' || (action === 'adopt' && differences.length > 0)
}

/** A relative path, with neither a step out of the directory nor a hidden name. */
function isPath(file: string): boolean {
  return file.split('/').every((part) => part !== '' && !part.startsWith('.'))
}

/** The manifests of a directory, sent to the daemon that plans for them. */
export const PLAN_REQUEST = z.strictObject({
  revision: z.strictObject({ id: z.string(), from: z.enum(['git-sync', 'git', 'content']) }),
  /** The directory, for people. */
  manifests: z.string(),
  /** The text of each file, by its path below the directory. */
  files: z.record(z.string().refine(isPath), z.string()),
})

export type PlanRequest = z.infer<typeof PLAN_REQUEST>

/** Of a {@link PlanRequest} as JSON. */
export const MAX_PLAN_BYTES = 16 * 1024 * 1024
