import type { Key } from '../kinds/key.ts'
import type { Conditions } from '../plan/condition.ts'
import { statusOf } from '../plan/conditions.ts'
import { REASONS, type Reason } from '../plan/reason.ts'
import type { Status } from '../plan/severity.ts'
import { reasonOf, tellingCondition } from './status.ts'

export interface Troubled {
  readonly key: Key
  readonly status: Status
  readonly reason: Reason
  readonly service: string | undefined
  readonly conditions: Conditions
  readonly file?: string | undefined
  readonly line?: number | undefined
  readonly manifestRevision?: string | undefined
}

/** One cause for all resources. */
const OF_ALL: ReadonlySet<Reason> = new Set([
  'LedgerFailed',
  'LockUnreadable',
  'ManifestVanishing',
  'NotLeading',
  'Unavailable',
])

/** One cause per service. */
const OF_SERVICE: ReadonlySet<Reason> = new Set([
  'AuthFailed',
  'CreateLimit',
  'MassMissing',
  'RateLimited',
  'ServiceIdle',
  'ServiceInvalid',
])

/** Equal for resources with the same cause and remedy. */
export function causeOf(resource: Troubled): string {
  const { key, status, reason, service } = resource
  if (OF_ALL.has(reason)) return reason
  if (OF_SERVICE.has(reason)) return `${reason}/${service ?? ''}`
  // each unknown outcome needs its own search for a pipe
  if (status === 'OutcomeUnknown') return key
  const mistake = mistakeOf(resource)
  if (status === 'Invalid') return mistake === undefined ? key : `${reason}/${mistake}`
  return `${status}/${reason}/${service ?? ''}/${sharedFacts(resource)}`
}

/** Otherwise a shared cause is only likely, and only for many resources. */
export function isOneMatter({ status, reason }: Troubled): boolean {
  return OF_ALL.has(reason) || OF_SERVICE.has(reason) || status === 'Invalid' || reason in SHARED
}

export function isUnseen({ status, conditions }: Pick<Troubled, 'status' | 'conditions'>): boolean {
  return status === 'Failed' && conditions.Synced.status === 'Unknown'
}

/** They appear after the shown condition is resolved. */
export function shownBehind(status: Troubled): readonly Troubled[] {
  const { Valid, Synced } = status.conditions
  const valid = { ...Valid, status: 'True', reason: 'Valid' } as const
  const synced = { ...Synced, status: 'True', reason: 'InSync' } as const
  const behind: Troubled[] = []
  if (Valid.status !== 'True') behind.push(shownAs(status, { ...status.conditions, Valid: valid }))
  if (Synced.status !== 'True')
    behind.push(shownAs(status, { ...status.conditions, Valid: valid, Synced: synced }))
  // Not in sync and therefore not ready is one problem.
  return behind.filter((one) => REASONS[one.reason].status === one.status)
}

function shownAs(status: Troubled, conditions: Conditions): Troubled {
  return { ...status, conditions, status: statusOf(conditions), reason: reasonOf(conditions) }
}

/** The finding without its position. */
function mistakeOf({ conditions }: Troubled): string | undefined {
  const { facts } = conditions.Valid
  return facts !== undefined && 'mistake' in facts ? facts.mistake : undefined
}

/** Names the fact with the shared obstacle. */
const SHARED = { DependencyNotReady: 'waitsFor', SecretUnavailable: 'missing' } as const

function sharedFacts(resource: Troubled): string {
  const { reason, facts } = tellingCondition(resource)
  if (facts === undefined) return ''
  const name = SHARED[reason as keyof typeof SHARED]
  return name !== undefined && name in facts
    ? JSON.stringify(Object.entries(facts).find(([field]) => field === name))
    : ''
}
