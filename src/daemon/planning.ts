import type { Key } from '../kinds/key.ts'
import { type Plan, type PlanItem, VERDICTS } from '../contract/plan.ts'
import type { ReconcileContext, ReconcileResult } from '../reconcile/context.ts'
import {
  limitedServices,
  type LimitedService,
  wantedCreations,
} from '../reconcile/gather/creations-of-service.ts'
import { createReconciler } from '../reconcile/reconciler.ts'
import { appliedBefore, planItemOf, settledItem, tellingRun } from '../reconcile/dry-run/plan-item.ts'
import { becauseOfMissing } from '../plan/gates.ts'
import { messageOf } from '../plan/reason.ts'
import type { MissingSecret } from '../plan/reasons/missing-secret.ts'
import { sentence } from '../plan/reasons/row.ts'
import type { StateStore } from '../reconcile/state/store.ts'
import { createBoard } from '../reconcile/state/status-board.ts'
import { keysOf, passOver, type PassOptions } from './pass.ts'

export interface PlanOptions extends Pick<PassOptions, 'concurrency' | 'urgency' | 'stopping'> {
  /** A dry one. */
  readonly context: ReconcileContext
  /** The directory, as it is to be named. */
  readonly manifests: string
  /** What is known of keys that need not be looked at. */
  readonly settled: ReadonlyMap<Key, Settled>
  readonly onProgress: (done: number, of: number) => void
}

/** What a check of a while ago said of a key that is as it was then. */
export interface Settled extends Pick<PlanItem, 'reason' | 'message'> {
  readonly ageMs: number
}

/** A plan, or what came in between. */
export type PlanResult =
  | { readonly is: 'whole'; readonly plan: Plan }
  | { readonly is: 'stopped' }
  | { readonly is: 'broken'; readonly bugs: ReadonlyMap<Key, unknown> }

/** Services that a plan names as those in which the create limit is reached, at most. */
const SERVICES_NAMED = 20

/** Does all that `apply` does, in the same order and by the same code, in a dry world, and tells what that was. */
export async function makePlan(options: PlanOptions): Promise<PlanResult> {
  const { context, stopping } = options
  const { profile, store } = context
  const applied = appliedBefore(store)
  const runs = new Map<Key, ReconcileResult>()
  const items = new Map<Key, PlanItem>()
  for (const [key, said] of options.settled) items.set(key, settledItem(store, key, said))
  const total = keysOf(context).length - options.settled.size
  const { bugs, unfinished } = await passOver({
    ...options,
    settled: new Set(options.settled.keys()),
    reconciler: createReconciler(context, createBoard()),
    deadline: () => stopping,
    onStart: () => undefined,
    onReconciled(key, result) {
      const before = runs.get(key)
      const telling = tellingRun(before, result)
      runs.set(key, telling)
      if (telling !== before) items.set(key, planItemOf({ profile, store, applied }, key, telling))
      options.onProgress(runs.size, total)
    },
  })
  if (bugs.size > 0) return { is: 'broken', bugs }
  if (unfinished > 0 || stopping.aborted) return { is: 'stopped' }
  // Nothing happens while the manifests are not accepted, and what is not found then may be there.
  if (store.catalog?.problem !== undefined) return { is: 'whole', plan: planOf(options, []) }
  // A key whose record has moved on is none any more; one whose record is forgotten, because it was deleted, is one.
  const deleted = [...runs].flatMap(([key, { action }]) => (action.type === 'delete' ? [key] : []))
  const planned = [...new Set([...keysOf(context), ...deleted])]
    .toSorted()
    .flatMap((key) => items.get(key) ?? [])
  const sent = planned.map((item) => withContact(store, item))
  return { is: 'whole', plan: planOf(options, withWaits(sent, runs)) }
}

function planOf({ context, manifests, settled }: PlanOptions, items: readonly PlanItem[]): Plan {
  const { store, maxCreates } = context
  const counts = Object.fromEntries(
    VERDICTS.map((each) => [each, items.filter(({ verdict }) => verdict === each).length]),
  ) as Plan['counts'] // one for each verdict
  const reached = items.find(({ reason }) => reason === 'CreateLimit') !== undefined
  const created = items.filter(({ action }) => action === 'create').length
  return {
    revision: store.catalog?.revision.id ?? '',
    manifests,
    missingLedger: undefined,
    problem: store.catalog?.problem?.message,
    createLimit: {
      wanted: created + wantedCreations(store),
      limit: Number.isFinite(maxCreates) ? maxCreates : null,
      reached,
      services: reached ? limitedServices(context).slice(0, SERVICES_NAMED).map(asPlanned) : [],
    },
    checkedBefore: {
      items: settled.size,
      oldestMs: settled.values().reduce((oldest, { ageMs }) => Math.max(oldest, ageMs), 0),
    },
    counts,
    items,
    findings: store.catalog?.findings ?? [],
  }
}

function asPlanned({
  service,
  wanted,
  made,
  until,
}: LimitedService): Plan['createLimit']['services'][number] {
  return { service, wanted, made, until }
}

/** What a service has just refused or left without a reply, it will not answer to what is to be sent there, either. */
function withContact(store: StateStore, item: PlanItem): PlanItem {
  const { action, verdict, service } = item
  const writes = action === 'create' || action === 'upsert'
  const contact = writes && verdict === 'change' && service ? store.contact(service.name) : undefined
  if (contact === undefined || contact.type === 'answered') return item
  // A 403 is about the operation that was asked for, and says nothing of this one.
  if (contact.type === 'refused' && contact.what === 'an operation') return item
  const reason = contact.type === 'refused' ? 'AuthFailed' : 'Unavailable'
  const message = `Would fail like the other requests to Service/${service?.name}. ${sentence(contact.said)}`
  return { ...item, verdict: 'failed', reason, message }
}

/** What waits for something that this plan makes is not refused: it is done once that is ready. */
function withWaits(items: readonly PlanItem[], runs: ReadonlyMap<Key, ReconcileResult>): readonly PlanItem[] {
  const byKey = new Map(items.map((item) => [item.key, item]))
  const known = new Map<Key, boolean>()
  function comes(key: Key): boolean {
    const before = known.get(key)
    if (before !== undefined) return before
    known.set(key, false) // until it is known; keys do not wait for each other in a circle
    const item = byKey.get(key)
    const waits = item?.reason === 'DependencyNotReady' && item.waitsFor.every(comes)
    const answer = item?.verdict === 'change' || waits
    known.set(key, answer)
    return answer
  }
  return items.map((item) => {
    if (item.reason !== 'DependencyNotReady') return item
    if (!comes(item.key)) return { ...item, before: undefined, desired: undefined }
    const missing = runs.get(item.key)?.assessment?.input.surroundings.missingSecrets ?? []
    return missing.length > 0 ? asRefused(item, missing) : asWaiting(item)
  })
}

/** The wait ends, and it is refused then. */
function asRefused(item: PlanItem, missing: readonly MissingSecret[]): PlanItem {
  const because = becauseOfMissing(missing)
  return { ...item, reason: because.reason, message: messageOf(because, item.key) }
}

function asWaiting(item: PlanItem): PlanItem {
  const { waitsFor } = item
  const ready = waitsFor.length === 1 ? 'it is' : 'they are'
  const message = `Waits for ${waitsFor.join(', ')}, which this plan changes. Done as soon as ${ready} ready.`
  return { ...item, verdict: 'waits', message }
}
