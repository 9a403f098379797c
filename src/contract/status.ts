import type { MaskedText } from '../lib/mask/secret-mask.ts'
import type { Key } from '../kinds/key.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Lifecycle } from '../kinds/definition.ts'
import { lifecycleOf } from '../kinds/lookup.ts'
import { expectedOf, type Profile } from '../kinds/profile.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'
import { maskSensitive } from '../kinds/mask.ts'
import type { ActionType } from '../plan/action.ts'
import type { Condition, Conditions } from '../plan/condition.ts'
import type { Status } from '../plan/severity.ts'
import type { Reason } from '../plan/reason.ts'
import type { JsonObject } from '../lib/json.ts'

/** Without secrets and sensitive values. */
export interface ResourceStatus {
  readonly key: Key
  readonly kind: string
  readonly name: string
  /** Created from its manifest, although most resources of its kind are only read. */
  readonly isWritten?: true
  readonly labels: Readonly<Record<string, string>>
  readonly status: Status
  readonly conditions: Conditions
  readonly action: ActionType
  readonly reason: Reason
  /** Includes the remedy. */
  readonly message: string
  readonly differences: readonly Difference[]
  readonly file: string | undefined
  readonly line: number | undefined
  /** Revision of the manifest's last change. */
  readonly manifestRevision: string | undefined
  readonly service: string | undefined
  readonly pipeId: string | undefined
  readonly state: MaskedText | undefined
  /** The last reply as JSON text, masked. Objects would take many times the memory. */
  readonly observed: string | undefined
  /** Last answered read, ms since the epoch. */
  readonly checkedAt: number | undefined
  /** ms since the epoch. */
  readonly lastReconciledAt: number | undefined
  readonly nextReconcileAt: number | undefined
  readonly suspendedUntil: string | undefined
}

export function lifecycleOfStatus({ key, isWritten }: Pick<ResourceStatus, 'key' | 'isWritten'>): Lifecycle {
  const before = { key, manifest: undefined, record: { remote: isWritten } }
  return lifecycleOf(before)
}

export function isSuspended({ suspendedUntil }: ResourceStatus, now: number): boolean {
  return suspendedUntil !== undefined && Date.parse(suspendedUntil) > now
}

/** ms since the epoch. If healthy: the last change of a condition. */
export function sinceOf(status: Pick<ResourceStatus, 'conditions' | 'reason'>): number {
  const { Valid, Synced, Ready } = status.conditions
  const telling = tellingCondition(status)
  return telling.status === 'True' ? Math.max(Valid.since, Synced.since, Ready.since) : telling.since
}

export function tellingCondition({
  conditions,
  reason,
}: Pick<ResourceStatus, 'conditions' | 'reason'>): Condition {
  const { Valid, Synced, Ready } = conditions
  if (Valid.status === 'False') return Valid
  return Ready.reason === reason && Synced.reason !== reason ? Ready : Synced
}

export function reasonOf({ Valid, Synced, Ready }: Conditions): Reason {
  if (Valid.status === 'False') return Valid.reason
  return Synced.status === 'True' && Ready.status !== 'True' ? Ready.reason : Synced.reason
}

/** @param message of the action, or of `Synced` */
export function bestMessage({ Valid, Synced, Ready }: Conditions, message: string): string {
  return Valid.status !== 'False' && Synced.status === 'True' && SAYS_MORE.has(Ready.reason)
    ? Ready.message
    : message
}

const SAYS_MORE: ReadonlySet<Reason> = new Set(['UnhealthyState', 'StateChanging', 'NotJudged', 'InUse'])

export function bodyIn(text: string | undefined): JsonObject | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as JsonObject) // written as an object
}

/** As a request body, with sensitive values masked. */
export function desiredBody(
  profile: Profile,
  manifest: ResourceManifest | undefined,
): JsonObject | undefined {
  const body = manifest && expectedOf(profile, manifest)
  return body && maskSensitive(body)
}

export function withBodies({ observed, ...facts }: ResourceStatus, desired: JsonObject | undefined) {
  return { ...facts, desired, observed: bodyIn(observed) }
}

/** For page, API and metrics. */
export interface StatusBoard {
  get(key: Key): ResourceStatus | undefined
  /** Sorted by key. The same list until a change. */
  list(): readonly ResourceStatus[]
  /** Rises with each change. Statuses are immutable. */
  readonly version: number
}
