import type { MaskedText } from '../lib/mask/secret-mask.ts'
import { kindOf, nameOf, type Key } from '../kinds/key.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Lifecycle } from '../kinds/definition.ts'
import { isReference, isWritten, lifecycleOf } from '../kinds/lookup.ts'
import { expectedOf, type Profile } from '../kinds/profile.ts'
import { serviceOf, type ResourceManifest } from '../kinds/manifest.ts'
import { maskSensitive } from '../kinds/mask.ts'
import type { ActionType } from '../plan/action.ts'
import type { Condition, Conditions } from '../plan/condition.ts'
import { statusOf } from '../plan/conditions.ts'
import type { Intent, LedgerRecord } from '../plan/record.ts'
import type { Severity, Status } from '../plan/severity.ts'
import { explained, type Explanation, type Reason } from '../plan/reason.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Entry } from './catalog.ts'

/** All facts about a resource, without secrets and sensitive values. Times are ms since the epoch. */
export interface ResourceView {
  readonly key: Key
  readonly kind: string
  readonly name: string
  /** Pipewright creates this resource. Others of the same kind are only read. */
  readonly isWritten?: true
  readonly labels: Readonly<Record<string, string>>
  readonly status: Status
  readonly reason: Reason
  readonly because: Explanation
  /** When the condition behind `status` last changed. If the resource is healthy: when any condition last changed. */
  readonly since: number
  readonly conditions: Conditions
  /** Undefined if this process has not reconciled the resource. */
  readonly action: ActionType | undefined
  readonly differences: readonly Difference[]
  readonly file: string | undefined
  readonly line: number | undefined
  readonly manifestRevision: string | undefined
  readonly service: string | undefined
  readonly pipeId: string | undefined
  readonly intent: Intent | undefined
  readonly appliedAt: number | undefined
  readonly state: MaskedText | undefined
  /** The last reply as JSON text, masked. Undefined in lists. */
  readonly reply: (() => string) | undefined
  readonly checkedAt: number | undefined
  readonly lastReconciledAt: number | undefined
  readonly nextReconcileAt: number | undefined
  /** The same as monotonic ms. Not shown. */
  readonly dueAt?: number | undefined
  readonly suspendedUntil: string | undefined
  /** Only in replies of the API: the id of the resource's problem in `/api/v1/attention`. */
  readonly problem?: string | undefined
}

export interface Problem {
  /** Stays the same as long as the problem lasts. */
  readonly id: string
  readonly cause: string
  readonly reason: Reason
  readonly severity: Severity
  readonly service: string | undefined
  readonly keys: readonly Key[]
  /** ms since the epoch. */
  readonly since: number
  readonly state: string
}

interface Known extends Partial<
  Pick<
    ResourceView,
    'action' | 'because' | 'manifestRevision' | 'lastReconciledAt' | 'nextReconcileAt' | 'dueAt'
  >
> {
  readonly record: LedgerRecord
  readonly conditions: Conditions
  readonly checkedAt: number | undefined
  readonly entry?: Entry | undefined
  readonly observation?:
    { readonly shownState: MaskedText | undefined; readonly reply: ResourceView['reply'] } | undefined
}

export function viewOf({ record, conditions, checkedAt, entry, observation, ...known }: Known): ResourceView {
  const { key, upsert } = record
  const lastReply = upsert?.reply
  const manifest = entry?.manifest
  const reason = reasonOf(conditions)
  return {
    key,
    kind: kindOf(key),
    name: nameOf(key),
    ...(isWritten({ key, manifest, record }) && { isWritten: true as const }),
    labels: manifest?.metadata.labels ?? record.labels ?? entry?.stated?.labels ?? {},
    status: statusOf(conditions),
    reason,
    because: known.because ?? bestExplanation(conditions, tellingCondition({ conditions, reason })),
    since: sinceOf({ conditions, reason }),
    conditions,
    action: known.action,
    differences: record.differences ?? [],
    file: entry?.position.file ?? record.file,
    line: entry?.position.line ?? record.line,
    manifestRevision: known.manifestRevision ?? record.manifest?.revision,
    service: isReference(key)
      ? nameOf(key)
      : ((manifest && serviceOf(manifest)) ?? record.service?.name ?? entry?.stated?.service),
    pipeId: record.remote?.id,
    intent: record.intent,
    appliedAt: lastReply && upsert?.at,
    state: observation?.shownState,
    // Without a read, show the reply to the last upsert.
    reply: observation?.reply ?? (lastReply && (() => JSON.stringify(maskSensitive(lastReply)))),
    checkedAt,
    lastReconciledAt: known.lastReconciledAt,
    nextReconcileAt: known.nextReconcileAt,
    dueAt: known.dueAt,
    suspendedUntil:
      manifest !== undefined && 'policy' in manifest ? manifest.policy?.suspend?.until : undefined,
  }
}

export function withConditions(
  view: ResourceView,
  conditions: Conditions,
  { status, reason }: Pick<ResourceView, 'status' | 'reason'> = {
    status: statusOf(conditions),
    reason: reasonOf(conditions),
  },
): ResourceView {
  return { ...view, conditions, status, reason, since: sinceOf({ conditions, reason }) }
}

export function lifecycleOfView({ key, isWritten: remote }: ResourceView): Lifecycle {
  return lifecycleOf({ key, manifest: undefined, record: { remote } })
}

export function isUnseen({ status, conditions }: ResourceView): boolean {
  return status === 'Failed' && conditions.Synced.status === 'Unknown'
}

type Said = Pick<ResourceView, 'conditions' | 'reason'>

function sinceOf(said: Said): number {
  const { Valid, Synced, Ready } = said.conditions
  const telling = tellingCondition(said)
  return telling.status === 'True' ? Math.max(Valid.since, Synced.since, Ready.since) : telling.since
}

export function tellingCondition({ conditions: { Valid, Synced, Ready }, reason }: Said): Condition {
  if (Valid.status === 'False') return Valid
  return Ready.reason === reason && Synced.reason !== reason ? Ready : Synced
}

export function reasonOf({ Valid, Synced, Ready }: Conditions): Reason {
  if (Valid.status === 'False') return Valid.reason
  return Synced.status === 'True' && Ready.status !== 'True' ? Ready.reason : Synced.reason
}

export function bestExplanation({ Valid, Synced, Ready }: Conditions, other: Explanation): Explanation {
  const isBetter = Valid.status !== 'False' && Synced.status === 'True' && SAYS_MORE.has(Ready.reason)
  return explained(isBetter ? Ready : other)
}

const SAYS_MORE: ReadonlySet<Reason> = new Set(['UnhealthyState', 'Changing', 'NotJudged'])

/** The conditions before the first reconcile. @param since ms since the epoch. 0: unknown */
export function rememberedConditions({ conditions, intent }: LedgerRecord, since: number): Conditions {
  if (conditions !== undefined) return conditions
  // The create of an open intent is in flight, or its process ended before the outcome was written.
  const why = intent?.state === 'open' ? 'creating' : 'waiting'
  const unseen = { status: 'Unknown', reason: 'Unobserved', facts: { why }, since } as const
  return { Valid: unseen, Synced: unseen, Ready: unseen }
}

export function bodyIn(reply: ResourceView['reply']): JsonObject | undefined {
  return reply && (JSON.parse(reply()) as JsonObject) // the JSON text of an object
}

/** The request body. Sensitive values are masked. */
export function desiredBody(
  profile: Profile,
  manifest: ResourceManifest | undefined,
): JsonObject | undefined {
  const body = manifest && expectedOf(profile, manifest)
  return body && maskSensitive(body)
}

export interface StatusBoard {
  get(key: Key): ResourceView | undefined
  /** Sorted by key. The same array until a view changes. */
  list(): readonly ResourceView[]
}
