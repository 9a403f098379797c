import type { ServiceIdentity } from '../plan/record.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import { z } from '../kinds/zod.ts'
import type { JsonObject } from '../lib/json.ts'
import type { ActionType } from '../plan/action.ts'
import { type Explanation, messageOf, type Reason } from '../plan/reason.ts'
import { type StepContext, placeOf } from '../plan/step.ts'

/**
 * - `refused`: Pipewright would refuse the request.
 * - `change`: Pipewright creates, adopts, changes, renames or deletes the resource.
 * - `waits`: the change of the resource waits for another change of this plan.
 * - `attention`: the resource drifted or is gone, and Pipewright only reports it.
 * - `held`: not changed for now, such as while suspended.
 */
export const VERDICTS = ['failed', 'refused', 'change', 'waits', 'attention', 'held', 'unchanged'] as const

export type Verdict = (typeof VERDICTS)[number]

/** Sensitive values are masked. */
export interface PlanItem {
  readonly key: Key
  readonly action: ActionType
  readonly reason: Reason
  readonly verdict: Verdict
  readonly because: Explanation
  /** Keys of `policy.dependsOn`. Pipewright reconciles them first. */
  readonly after: readonly Key[]
  readonly waitsFor: readonly Key[]
  readonly renamedFrom: Key | undefined
  readonly service: ServiceIdentity | undefined
  readonly outline: Readonly<Record<string, string>>
  readonly platformName: string | undefined
  readonly remoteId: string | undefined
  /** Observed values of the manifest's fields. Undefined if there is no resource, or it was not read. */
  readonly before: JsonObject | undefined
  readonly desired: JsonObject | undefined
  readonly differences: readonly Difference[]
  readonly gives: readonly string[]
  readonly takesAway: readonly string[]
  /** Secrets `name/key` that are not mounted here. */
  readonly uncheckedSecrets: readonly string[]
  readonly file: string | undefined
  readonly line: number | undefined
}

export function planMessage(item: PlanItem, context: StepContext): string {
  const { key, verdict, waitsFor, because, service, remoteId, differences, file, line } = item
  if (verdict === 'waits')
    return `Waits until ${waitsFor.join(', ')} ${waitsFor.length === 1 ? 'is' : 'are'} ready, because this plan changes ${waitsFor.length === 1 ? 'it' : 'them'}.`
  const place = file === undefined ? undefined : placeOf(context.manifestsDir, file, line)
  const about = { key, place, service: service?.name, pipeId: remoteId, differences }
  return messageOf(because, about, context)
}

export function shownPlan({ items, ...plan }: Plan, commands: StepContext) {
  const context = { ...commands, manifestsDir: plan.manifests }
  return { ...plan, items: items.map((item) => ({ ...item, message: planMessage(item, context) })) }
}

export interface Plan {
  readonly revision: string
  readonly manifests: string
  /** Set if there is no ledger. Then the plan shows a first run. */
  readonly missingLedger: { readonly file: string; readonly init: 'auto' | 'never' } | undefined
  readonly problem: string | undefined
  readonly createLimit: {
    readonly wanted: number
    /** Per service. Null: no limit. */
    readonly limit: number | null
    readonly refused: number
  }
  /** Items that a running daemon checked recently. The plan did not read them again. */
  readonly checkedBefore: { readonly items: number; readonly oldestMs: number }
  readonly counts: Readonly<Record<Verdict, number>>
  readonly items: readonly PlanItem[]
  readonly findings: readonly Finding[]
}

export function endOfPlan({ items, findings, problem }: Plan): 'nothing' | 'changes' | 'refused' {
  const wrong = findings.some((finding) => finding.severity === 'error')
  if (wrong || problem !== undefined || items.some(isRefused)) return 'refused'
  return items.some(({ verdict }) => verdict === 'change') ? 'changes' : 'nothing'
}

/** An adoption with differences counts as refused, because it does not send the manifest's values. */
function isRefused({ verdict, action, differences }: PlanItem): boolean {
  return verdict === 'refused' || verdict === 'failed' || (action === 'adopt' && differences.length > 0)
}

function isPath(file: string): boolean {
  return file.split('/').every((part) => part !== '' && !part.startsWith('.'))
}

export const PLAN_REQUEST = z.strictObject({
  revision: z.strictObject({ id: z.string(), from: z.enum(['git-sync', 'git', 'content']) }),
  manifests: z.string(),
  /** File contents by path, relative to the manifests directory. */
  files: z.record(z.string().refine(isPath), z.string()),
})

export type PlanRequest = z.infer<typeof PLAN_REQUEST>

export const MAX_PLAN_BYTES = 16 * 1024 * 1024
