import type { Key } from '../kinds/key.ts'
import type { Conditions } from '../plan/condition.ts'
import { statusOf } from '../plan/conditions.ts'
import { REASONS, type Reason } from '../plan/reason.ts'
import type { Status } from '../plan/severity.ts'
import { reasonOf, tellingCondition, type ResourceStatus } from './status.ts'

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
  'NotLeading',
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
export const MANY = 4

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

/** Whether nobody could look: it says nothing of what was known before. */
export function isUnseen({ status, conditions }: Pick<Troubled, 'status' | 'conditions'>): boolean {
  return status === 'Failed' && conditions.Synced.status === 'Unknown'
}

/**
 * Whether a problem is only hidden, and not over: something still says so, or nobody could look.
 * @param before the problem that was known
 */
export function isHidden(
  now: Pick<Troubled, 'status' | 'conditions'>,
  before: { readonly reason: Reason },
): boolean {
  return (
    isUnseen(now) ||
    Object.values(now.conditions).some((one) => one.status !== 'True' && one.reason === before.reason)
  )
}

/** As it would be shown without the condition that tells, and without the next: what is hidden behind it. */
export function shownBehind(status: ResourceStatus): readonly ResourceStatus[] {
  const { Valid, Synced } = status.conditions
  const valid = { ...Valid, status: 'True', reason: 'Valid' } as const
  const synced = { ...Synced, status: 'True', reason: 'InSync' } as const
  const behind: ResourceStatus[] = []
  if (Valid.status !== 'True') behind.push(shownAs(status, { ...status.conditions, Valid: valid }))
  if (Synced.status !== 'True')
    behind.push(shownAs(status, { ...status.conditions, Valid: valid, Synced: synced }))
  // What is not ready for the reason that it is not in sync is no second problem.
  return behind.filter((one) => REASONS[one.reason].status === one.status)
}

function shownAs(status: ResourceStatus, conditions: Conditions): ResourceStatus {
  return { ...status, conditions, status: statusOf(conditions), reason: reasonOf(conditions) }
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
