import { endOfPlan, type Plan, type PlanItem, type Verdict, VERDICTS } from '../../contract/plan.ts'
import type { ActionType } from '../../plan/action.ts'
import { formatDuration } from '../../lib/duration.ts'
import type { Reason } from '../../plan/reason.ts'

export function missingLedgerWords({ missingLedger, createLimit }: Plan): string | undefined {
  if (missingLedger === undefined) return undefined
  const { file, init } = missingLedger
  const what =
    init === 'auto'
      ? 'This plan is for a first run.'
      : '"run" and "apply" do not start without a ledger, because of --ledger-init=never. This plan is for an empty ledger.'
  const again =
    ' If there was a ledger before, its pipes might exist already. Restore the ledger, or adopt each existing pipe ' +
    'with a Lock or policy.adopt. Otherwise, this plan creates them again.'
  return `There is no ledger at ${file}. ${what}${createLimit.wanted === 0 ? '' : again}`
}

export function newsOf({ items }: Plan, order: 'first' | 'last' = 'first'): readonly PlanItem[] {
  const sign = order === 'first' ? 1 : -1
  return items
    .filter(({ verdict }) => verdict !== 'unchanged')
    .toSorted((a, b) => sign * (weight(a) - weight(b)))
}

function weight({ verdict, takesAway, differences }: PlanItem): number {
  const isDelicate = takesAway.length > 0 || differences.length > 0
  return 2 * VERDICTS.indexOf(verdict) - Number(isDelicate)
}

export function byCause(items: readonly PlanItem[]): readonly (readonly [PlanItem, ...PlanItem[]])[] {
  const groups = Map.groupBy(items, (item) => {
    const isAlone = item.desired !== undefined || item.renamedFrom !== undefined
    return isAlone ? item.key : JSON.stringify([item.verdict, item.reason, item.because, item.waitsFor])
  })
  return [...groups.values()] as [PlanItem, ...PlanItem[]][] // no group is empty
}

const MOST_NAMED = 30

export function keyWords(items: readonly PlanItem[]): string {
  const named = items.slice(0, MOST_NAMED).map(({ key }) => key)
  const rest = items.length > MOST_NAMED ? ` and ${items.length - MOST_NAMED} more` : ''
  return `${named.join(', ')}${rest}`
}

const TO_DO: Readonly<Partial<Record<ActionType, string>>> = {
  create: 'to create',
  adopt: 'to adopt',
  upsert: 'to apply',
  update: 'to change',
  delete: 'to delete',
}

const REPORTED: Readonly<Partial<Record<Reason, string>>> = {
  Drifted: 'drifted',
  NotUpdatable: 'not updatable',
  SecretRotated: 'with a secret that is not sent',
  Orphaned: 'orphaned',
  Missing: 'missing',
  Stalled: 'stalled',
  UnhealthyState: 'not ready',
  InvalidManifest: 'invalid',
}

const OTHERWISE: Readonly<Record<Verdict, string>> = {
  failed: 'failed',
  refused: 'refused',
  change: 'to rename',
  waits: 'waiting',
  attention: 'to look at',
  held: 'on hold',
  unchanged: 'unchanged',
}

/** @returns such as "1 to create, 1 drifted, 16 unchanged" */
function countsOf(plan: Plan): string {
  const all = [...newsOf(plan), ...plan.items.filter(({ verdict }) => verdict === 'unchanged')]
  const counts = [...Map.groupBy(all, wordOf)].map(([word, { length }]) => `${length} ${word}`)
  return counts.length === 0 ? 'no resources' : counts.join(', ')
}

function wordOf({ verdict, action, reason, renamedFrom, differences }: PlanItem): string {
  if (verdict === 'change' && action === 'adopt' && differences.length > 0)
    return 'to adopt although it differs'
  if (verdict === 'change' && renamedFrom === undefined) return TO_DO[action] ?? OTHERWISE[verdict]
  if (verdict === 'failed' || verdict === 'change' || verdict === 'waits') return OTHERWISE[verdict]
  return REPORTED[reason] ?? OTHERWISE[verdict]
}

export function summaryOf(plan: Plan): string {
  if (plan.problem !== undefined) return 'There is no plan, because of the problem above.'
  const { wanted, limit, refused } = plan.createLimit
  const most = limit === null ? 'no limit' : `limit ${limit} in each service`
  const creations = wanted === 0 ? '' : ` Pending creates: ${wanted} (${most}).`
  const held =
    refused === 0 ? '' : ` The create limit refuses ${refused} of them until an operator allows them.`
  const changes = endOfPlan(plan) === 'nothing' ? 'No changes' : 'Plan'
  const { items, oldestMs } = plan.checkedBefore
  const before =
    items === 0
      ? ''
      : ` Unchanged resources that were not read again: ${items}. The daemon checked them up to ${formatDuration(oldestMs)} ago.`
  return `${changes}: ${countsOf(plan)}.${creations}${held}${before}`
}

/** @returns such as "create New, after Alert/lag" */
export function headOf({ action, verdict, reason, after, renamedFrom }: PlanItem): string {
  if (renamedFrom !== undefined) return `rename, from ${renamedFrom}`
  if (verdict === 'waits') return 'waits'
  const comes = verdict === 'change' && after.length > 0 ? `, after ${after.join(', ')}` : ''
  return `${action} ${reason}${comes}`
}

export function factsOf(item: PlanItem): readonly string[] {
  const { service, outline, platformName, remoteId, uncheckedSecrets, action, before, desired } = item
  const isReport = action === 'report' && desired !== undefined && item.differences.length > 0
  const isShown = desired !== undefined || item.renamedFrom !== undefined
  const place = [
    ...(service === undefined ? [] : [`service ${service.name}`]),
    ...Object.entries(outline).map(([name, value]) => `${name} ${value}`),
    ...(platformName === undefined ? [] : [`name ${platformName}`]),
  ]
  return [
    ...(isShown && place.length > 0 ? [place.join(', ')] : []),
    ...(isShown && service !== undefined
      ? [`organization ${service.organizationId}`, `service id ${service.serviceId}`]
      : []),
    ...(isShown && remoteId !== undefined ? [`id ${remoteId}`] : []),
    ...(action === 'adopt' && before !== undefined && item.differences.length === 0
      ? ['equal to the manifest']
      : []),
    ...(item.gives.length > 0 ? [`gives access: ${item.gives.join(', ')}`] : []),
    ...(item.takesAway.length > 0 ? [`takes away: ${item.takesAway.join(', ')}`] : []),
    ...(uncheckedSecrets.length > 0
      ? [
          `${uncheckedSecrets.length === 1 ? 'secret' : 'secrets'} ${uncheckedSecrets.join(', ')} not mounted here; not checked`,
        ]
      : []),
    ...(isReport ? ['reported, not changed:'] : []),
  ]
}
