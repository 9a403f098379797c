import { fineReason } from '../support/fine-reason.ts'
import { messageOf } from '../../src/plan/reason.ts'
import { statusOf } from '../../src/plan/conditions.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { Model } from './model.ts'

/** What is neither well nor waits for a person, in words. */
export function unsettledIn(
  { key, conditions, remote: pipe }: LedgerRecord,
  model: Model,
): readonly string[] {
  if (conditions === undefined) return [`${key} has no conditions.`]
  const { reason } = conditions.Synced
  const status = statusOf(conditions)
  const isThere = model.pipes.some(({ id }) => id === pipe?.id)
  if (WELL.has(status) || ASKS.has(fineReason(conditions.Synced)) || (UNPROVED.has(reason) && !isThere))
    return []
  return [`${key} is ${status} (${reason}) in the end: ${messageOf(conditions.Synced, { key })}`]
}

const WELL: ReadonlySet<string> = new Set(['Ready', 'OutcomeUnknown', 'Drifted', 'Orphaned', 'Invalid'])
const ASKS: ReadonlySet<string> = new Set([
  'Ambiguous',
  'Ambiguous unclaimed',
  'AdoptRefused',
  'DependencyNotReady',
])
/** Not proved, and never to be: no other pipe of the service shows that it can be seen. Or nobody ever saw it. */
const UNPROVED: ReadonlySet<string> = new Set(['NeverSeen', 'MissingUnconfirmed', 'MassMissing', 'Missing'])
