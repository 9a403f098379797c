import type { Key } from '../kinds/key.ts'
import type { Conditions } from '../plan/condition.ts'
import type { Reason } from '../plan/reason.ts'
import type { Status } from '../plan/severity.ts'
import { tellingCondition } from './status.ts'

/** What is known of a resource that has trouble, for those that have it for one cause. */
export interface Troubled {
  readonly key: Key
  readonly status: Status
  readonly reason: Reason
  readonly service: string | undefined
  readonly conditions: Conditions
}

/** Troubles of the whole: one cause, whatever it strikes. */
const OF_ALL: ReadonlySet<Reason> = new Set([
  'LedgerFailed',
  'LockUnreadable',
  'ManifestVanishing',
  'Unavailable',
])

/** Troubles of a service or its credentials. */
const OF_SERVICE: ReadonlySet<Reason> = new Set([
  'AuthFailed',
  'CreateLimit',
  'MassMissing',
  'RateLimited',
  'ServiceIdle',
  'ServiceInvalid',
])

/** So many of one kind of trouble in one service are most likely one matter, such as a folder that was removed. */
const MANY = 4

/** Resources with one cause each, worst and first as they came. */
export function groupByCause<T extends Troubled>(resources: readonly T[]): readonly (readonly T[])[] {
  const groups = [...Map.groupBy(resources, causeOf).values()]
  return groups.flatMap((group) => {
    const [first] = group
    return first !== undefined && !isOneMatter(first) && group.length < MANY
      ? group.map((one) => [one])
      : [group]
  })
}

/** Equal for those whose trouble has one cause, and one remedy. */
export function causeOf(resource: Troubled): string {
  const { key, status, reason, service } = resource
  if (OF_ALL.has(reason)) return reason
  if (OF_SERVICE.has(reason)) return `${reason}/${service ?? ''}`
  // each of these is a matter of its own: another pipe to look for
  if (status === 'OutcomeUnknown') return key
  const mistake = mistakeOf(resource)
  if (status === 'Invalid') return mistake === undefined ? key : `${reason}/${mistake}`
  return `${status}/${reason}/${service ?? ''}/${sharedFacts(resource)}`
}

/** Whether those with the same cause have it for one matter; otherwise that is only likely, where they are many. */
export function isOneMatter({ status, reason }: Troubled): boolean {
  return OF_ALL.has(reason) || OF_SERVICE.has(reason) || status === 'Invalid' || reason in SHARED
}

/** What a finding says without where it says it. */
function mistakeOf({ conditions }: Troubled): string | undefined {
  const { facts } = conditions.Valid
  return facts !== undefined && 'mistake' in facts ? facts.mistake : undefined
}

/** Reasons whose facts name what stands in the way of all that have them. */
const SHARED = { DependencyNotReady: 'waitsFor', SecretUnavailable: 'missing' } as const

function sharedFacts(resource: Troubled): string {
  const { reason, facts } = tellingCondition(resource)
  if (facts === undefined) return ''
  const name = SHARED[reason as keyof typeof SHARED]
  return name !== undefined && name in facts
    ? JSON.stringify(Object.entries(facts).find(([field]) => field === name))
    : ''
}
