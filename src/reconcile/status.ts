import type { Key, ResourceKind } from '../kinds/key.ts'
import type { Difference } from '../kinds/difference.ts'
import type { ActionType } from '../plan/action.ts'
import type { Conditions } from '../plan/condition.ts'
import type { Status } from '../plan/status.ts'
import type { Reason } from '../plan/reason.ts'
import type { JsonObject } from '../lib/json.ts'

/** All that is known of one resource, ready to be shown: no secret, no sensitive value in it. */
export interface ResourceStatus {
  readonly key: Key
  readonly kind: ResourceKind
  readonly name: string
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
  readonly revision: string
  readonly service: string | undefined
  readonly pipeId: string | undefined
  /** `state` as the platform last reported it. */
  readonly state: string | undefined
  /** Bodies of the interface, sensitive values masked. */
  readonly desired: JsonObject | undefined
  readonly observed: JsonObject | undefined
  /** ms since the epoch. */
  readonly lastReconciledAt: number | undefined
  readonly nextReconcileAt: number | undefined
  readonly suspendedUntil: string | undefined
}

/** Whether it is left alone now, whatever else there is to say of it. */
export function isSuspended({ suspendedUntil }: ResourceStatus, now: number): boolean {
  return suspendedUntil !== undefined && Date.parse(suspendedUntil) > now
}

/** The facts of a status, in the order in which they are shown: all but the two bodies. */
const FACTS = [
  'key',
  'kind',
  'name',
  'labels',
  'status',
  'conditions',
  'action',
  'reason',
  'message',
  'differences',
  'file',
  'line',
  'revision',
  'service',
  'pipeId',
  'state',
  'lastReconciledAt',
  'nextReconcileAt',
  'suspendedUntil',
] as const satisfies readonly (keyof ResourceStatus)[]

export type StatusFact = (typeof FACTS)[number]

/** A status without the two bodies, which are made when they are read, as a list of thousands must not do. */
export function factsOf(status: ResourceStatus): Pick<ResourceStatus, StatusFact> {
  const facts = Object.fromEntries(FACTS.map((name) => [name, status[name]]))
  return facts as Pick<ResourceStatus, StatusFact> // made of the same names
}

/** The read model that page, API and metrics show; kept by the daemon. */
export interface StatusBoard {
  get(key: Key): ResourceStatus | undefined
  /** In the order of their keys. */
  list(): readonly ResourceStatus[]
}
