import { endOfPlan, type Plan, type PlanItem, type Verdict } from '../../contract/plan.ts'
import type { ActionType } from '../../plan/action.ts'
import { formatDuration } from '../../lib/duration.ts'
import type { Reason } from '../../plan/reason.ts'

/* What text and markdown both say of a plan. */

/** That there is no ledger, and what that makes of the plan. */
export function missingLedgerWords({ missingLedger }: Plan): string | undefined {
  if (missingLedger === undefined) return undefined
  const { file, init } = missingLedger
  const what =
    init === 'auto'
      ? 'This is what a first run would do.'
      : '--ledger-init=never keeps "run" and "apply" from starting without it. This is what they would do with an empty one.'
  return (
    `There is no ledger at ${file}. ${what} If there was a ledger before, what is to be created may exist already: restore the ` +
    'ledger, or adopt by a Lock or policy.adopt, until nothing is to be created that exists.'
  )
}

/** In the order in which they matter to whoever approves it. */
const ORDER: Readonly<Record<Verdict, number>> = {
  failed: 0,
  refused: 1,
  change: 2,
  waits: 3,
  attention: 4,
  held: 5,
  unchanged: 6,
}

/** All that is not as it should be, what matters most first; or last. */
export function newsOf({ items }: Plan, order: 'first' | 'last' = 'first'): readonly PlanItem[] {
  const sign = order === 'first' ? 1 : -1
  return items
    .filter(({ verdict }) => verdict !== 'unchanged')
    .toSorted((a, b) => sign * (weight(a) - weight(b)))
}

/** The less, the more it matters. */
function weight(item: PlanItem): number {
  return 2 * ORDER[item.verdict] - Number(isDelicate(item))
}

/** Among its like it is looked at first. */
function isDelicate({ takesAway, differences }: PlanItem): boolean {
  return takesAway.length > 0 || differences.length > 0
}

/** Items of one cause, of which nothing else is to be shown, as one: a create limit is not said thirty times. */
export function byCause(items: readonly PlanItem[]): readonly (readonly [PlanItem, ...PlanItem[]])[] {
  const groups = new Map<string, [PlanItem, ...PlanItem[]]>()
  for (const item of items) {
    const isAlone = item.desired !== undefined || item.renamedFrom !== undefined
    const cause = isAlone ? item.key : `${item.verdict} ${item.reason} ${item.message}`
    const group = groups.get(cause)
    if (group === undefined) groups.set(cause, [item])
    else group.push(item)
  }
  return [...groups.values()]
}

/** Keys of one cause that are named. */
const MOST_NAMED = 30

export function keysOf(items: readonly PlanItem[]): string {
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
  Unanswered: 'not answered yet',
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

/** "1 to create, 1 drifted, 16 unchanged". */
export function countsOf(plan: Plan): string {
  const counts = new Map<string, number>()
  const all = [...newsOf(plan), ...plan.items.filter(({ verdict }) => verdict === 'unchanged')]
  for (const item of all) {
    const word = wordOf(item)
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts.size === 0
    ? 'no resources'
    : [...counts].map(([word, count]) => `${count} ${word}`).join(', ')
}

function wordOf({ verdict, action, reason, renamedFrom, differences }: PlanItem): string {
  if (verdict === 'change' && action === 'adopt' && differences.length > 0)
    return 'to adopt although it differs'
  if (verdict === 'change' && renamedFrom === undefined) return TO_DO[action] ?? OTHERWISE[verdict]
  if (verdict === 'failed' || verdict === 'change' || verdict === 'waits') return OTHERWISE[verdict]
  return REPORTED[reason] ?? OTHERWISE[verdict]
}

export function summaryOf(plan: Plan): string {
  if (plan.problem !== undefined) return 'Nothing is planned: the manifests are not accepted as they are.'
  const { wanted, limit, reached, services } = plan.createLimit
  const most = limit === null ? 'no limit' : `limit ${limit} in each service`
  const isCreated = plan.items.some(({ action }) => action === 'create')
  const creations = !isCreated && !reached ? '' : ` Pending creates: ${wanted} (${most}).`
  const refused = reached ? limitWords(services) : ''
  const changes = endOfPlan(plan) === 'nothing' ? 'No changes' : 'Plan'
  const { items, oldestMs } = plan.checkedBefore
  const before =
    items === 0
      ? ''
      : ` Of those that are unchanged, ${items} ${items === 1 ? 'was' : 'were'} last checked by the daemon, up to ${formatDuration(oldestMs)} ago.`
  return `${changes}: ${countsOf(plan)}.${creations}${refused}${before}`
}

/** Services in which the create limit is reached that are named. */
const SERVICES_SHOWN = 5

function limitWords(services: Plan['createLimit']['services']): string {
  const shown = services.slice(0, SERVICES_SHOWN).map(({ service, wanted, made }) => {
    const before = made === 0 ? '' : ` after ${made} within the last hour`
    return `${service} (${wanted} pending${before})`
  })
  const more = services.length > SERVICES_SHOWN ? ` and ${services.length - SERVICES_SHOWN} more` : ''
  const where = shown.length === 0 ? '' : ` in service ${shown.join(', ')}${more}`
  return ` That is more than the create limit lets pass${where}, so nothing is created there until somebody allows it.`
}

/** What is done, in a few words: "create, after Alert/lag". */
export function headOf({ action, verdict, reason, after, renamedFrom }: PlanItem): string {
  if (renamedFrom !== undefined) return `rename, from ${renamedFrom}`
  if (verdict === 'waits') return 'waits'
  const comes = verdict === 'change' && after.length > 0 ? `, after ${after.join(', ')}` : ''
  return `${action} ${reason}${comes}`
}

/** What it is about: one fact a line. */
export function factsOf(item: PlanItem): readonly string[] {
  const { service, outline, platformName, remoteId, uncheckedSecrets, action, before, desired } = item
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
      ? ['nothing differs from the manifest']
      : []),
    ...(item.gives.length > 0 ? [`gives access: ${item.gives.join(', ')}`] : []),
    ...(item.takesAway.length > 0 ? [`takes away: ${item.takesAway.join(', ')}`] : []),
    ...(uncheckedSecrets.length > 0
      ? [
          `${uncheckedSecrets.length === 1 ? 'secret' : 'secrets'} ${uncheckedSecrets.join(', ')} not mounted here; not checked`,
        ]
      : []),
  ]
}
