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

/** All that is known of one resource, ready to be shown: no secret, no sensitive value in it. */
export interface ResourceStatus {
  readonly key: Key
  readonly kind: string
  readonly name: string
  /** It is created from its manifest, though most of its kind are only looked at. */
  readonly isWritten?: true
  readonly labels: Readonly<Record<string, string>>
  readonly status: Status
  readonly conditions: Conditions
  /** What was decided last. */
  readonly action: ActionType
  readonly reason: Reason
  /** What happened, where, and what to do. */
  readonly message: string
  readonly differences: readonly Difference[]
  readonly file: string | undefined
  readonly line: number | undefined
  /** At which the manifest came to say what it says; the last one that it had, where it is gone. */
  readonly manifestRevision: string | undefined
  readonly service: string | undefined
  readonly pipeId: string | undefined
  /** `state` as the platform last reported it. */
  readonly state: MaskedText | undefined
  /** The last reply, sensitive values masked. JSON text: as objects, those of thousands take many times the room. */
  readonly observed: string | undefined
  /** When the platform was last asked for it, and answered: ms since the epoch. Undefined: never. */
  readonly checkedAt: number | undefined
  /** ms since the epoch. */
  readonly lastReconciledAt: number | undefined
  readonly nextReconcileAt: number | undefined
  readonly suspendedUntil: string | undefined
}

/** How a resource lives, as its status says it. */
export function lifecycleOfStatus({ key, isWritten }: Pick<ResourceStatus, 'key' | 'isWritten'>): Lifecycle {
  const before = { key, manifest: undefined, record: { remote: isWritten } }
  return lifecycleOf(before)
}

/** Whether it is left alone now, whatever else there is to say of it. */
export function isSuspended({ suspendedUntil }: ResourceStatus, now: number): boolean {
  return suspendedUntil !== undefined && Date.parse(suspendedUntil) > now
}

/** Since when a resource is as it is: ms since the epoch. One that is well is so since the last of its conditions came true. */
export function sinceOf(status: Pick<ResourceStatus, 'conditions' | 'reason'>): number {
  const { Valid, Synced, Ready } = status.conditions
  const telling = tellingCondition(status)
  return telling.status === 'True' ? Math.max(Valid.since, Synced.since, Ready.since) : telling.since
}

/** The condition that a resource's status and reason come from. */
export function tellingCondition({
  conditions,
  reason,
}: Pick<ResourceStatus, 'conditions' | 'reason'>): Condition {
  const { Valid, Synced, Ready } = conditions
  if (Valid.status === 'False') return Valid
  return Ready.reason === reason && Synced.reason !== reason ? Ready : Synced
}

/** The reason that a resource's conditions give it. */
export function reasonOf({ Valid, Synced, Ready }: Conditions): Reason {
  if (Valid.status === 'False') return Valid.reason
  return Synced.status === 'True' && Ready.status !== 'True' ? Ready.reason : Synced.reason
}

/** What says most of a resource that is in sync. @param message of what was done, or of `Synced` */
export function bestMessage({ Valid, Synced, Ready }: Conditions, message: string): string {
  return Valid.status !== 'False' && Synced.status === 'True' && SAYS_MORE.has(Ready.reason)
    ? Ready.message
    : message
}

/** Reasons of readiness that say more than that it is in sync. */
const SAYS_MORE: ReadonlySet<Reason> = new Set(['UnhealthyState', 'StateChanging', 'NotJudged', 'InUse'])

/** A reply as an object. */
export function bodyIn(text: string | undefined): JsonObject | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as JsonObject) // written as one
}

/** What a manifest asks for, as a body of the interface, sensitive values masked. Made when somebody looks. */
export function desiredBody(
  profile: Profile,
  manifest: ResourceManifest | undefined,
): JsonObject | undefined {
  const body = manifest && expectedOf(profile, manifest)
  return body && maskSensitive(body)
}

/** A status as it is shown in full. */
export function withBodies({ observed, ...facts }: ResourceStatus, desired: JsonObject | undefined) {
  return { ...facts, desired, observed: bodyIn(observed) }
}

/** The read model that page, API and metrics show; kept by the daemon. */
export interface StatusBoard {
  get(key: Key): ResourceStatus | undefined
  /** In the order of their keys. The same list until something changes. */
  list(): readonly ResourceStatus[]
  /** Rises with each change; a status is replaced, never changed. */
  readonly version: number
}
