import type { Key } from '../kinds/key.ts'
import { type Plan, type PlanItem, VERDICTS } from '../contract/plan.ts'
import type { ReconcileContext, ReconcileResult } from '../reconcile/context.ts'
import { createReconciler } from '../reconcile/reconciler.ts'
import { planItemOf, settledItem, decisiveRun } from '../reconcile/dry-run/plan-item.ts'
import type { Explanation } from '../plan/reason.ts'
import { sentence } from '../plan/reasons/row.ts'
import type { StateStore } from '../reconcile/state/store.ts'
import { createBoard } from '../reconcile/state/status-board.ts'
import { keysOf, reconcileAll, type PassOptions } from './pass.ts'

interface PlanOptions extends Pick<PassOptions, 'concurrency' | 'urgency' | 'stopping'> {
  readonly context: ReconcileContext
  readonly manifests: string
  readonly settled: ReadonlyMap<Key, Settled>
  readonly onProgress: (done: number, of: number) => void
}

export interface Settled {
  readonly because: Explanation
  readonly ageMs: number
}

/** Simulates `apply`. @returns undefined if stopped @throws the first bug */
export async function makePlan(options: PlanOptions): Promise<Plan | undefined> {
  const { context, stopping } = options
  const { store } = context
  const runs = new Map<Key, ReconcileResult>()
  const items = new Map<Key, PlanItem>()
  for (const [key, { because }] of options.settled) items.set(key, settledItem(store, key, because))
  const total = keysOf(context).length - options.settled.size
  const { bugs, unfinished } = await reconcileAll({
    ...options,
    settled: new Set(options.settled.keys()),
    reconciler: createReconciler(context, createBoard()),
    deadline: () => stopping,
    onReconciled(key, result) {
      const before = runs.get(key)
      const telling = decisiveRun(before, result)
      runs.set(key, telling)
      if (telling !== before) items.set(key, planItemOf(context, key, telling))
      options.onProgress(runs.size, total)
    },
  })
  if (bugs.size > 0) throw bugs.values().next().value
  if (unfinished > 0 || stopping.aborted) return undefined
  // If the directory was rejected, `apply` makes no change, because manifests that seem missing might exist.
  if (store.catalog?.problem !== undefined) return planOf(options, [])
  // Adds keys that `apply` deletes, because they might have no record here.
  const deleted = [...runs].flatMap(([key, { action }]) => (action.type === 'delete' ? [key] : []))
  const planned = [...new Set([...keysOf(context), ...deleted])]
    .toSorted()
    .flatMap((key) => items.get(key) ?? [])
  const sent = planned.map((item) => withContact(store, item))
  return planOf(options, withWaits(sent, runs))
}

function planOf({ context, manifests, settled }: PlanOptions, items: readonly PlanItem[]): Plan {
  const { store, maxCreates } = context
  const counts = Object.fromEntries(
    VERDICTS.map((each) => [each, items.filter(({ verdict }) => verdict === each).length]),
  ) as Plan['counts'] // one for each verdict
  const refused = items.filter(({ reason }) => reason === 'CreateLimit').length
  const created = items.filter(({ action }) => action === 'create').length
  return {
    revision: store.catalog?.revision.id ?? '',
    manifests,
    missingLedger: undefined,
    problem: store.catalog?.problem?.message,
    createLimit: {
      wanted: created + refused,
      limit: Number.isFinite(maxCreates) ? maxCreates : null,
      refused,
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

/** Marks a write as failed if its service just refused another request, or did not answer. */
function withContact(store: StateStore, item: PlanItem): PlanItem {
  const { action, verdict, service } = item
  const writes = action === 'create' || action === 'upsert'
  const contact = writes && verdict === 'change' && service ? store.contact(service.name) : undefined
  if (contact === undefined || !('said' in contact)) return item
  // A 403 for another operation does not show that this one is forbidden.
  if (contact.type === 'refused' && contact.what === 'an operation') return item
  const reason = contact.type === 'refused' ? 'AuthFailed' : 'Unavailable'
  const said = `Other requests to Service/${service?.name} fail now, so this one would fail too. ${sentence(contact.said)}`
  return { ...item, verdict: 'failed', reason, because: { reason, facts: { said } } }
}

/** Marks an item as waiting if planned changes unblock it, because `apply` performs the item after the changes. */
function withWaits(items: readonly PlanItem[], runs: ReadonlyMap<Key, ReconcileResult>): readonly PlanItem[] {
  const byKey = new Map(items.map((item) => [item.key, item]))
  const known = new Map<Key, boolean>()
  function comes(key: Key): boolean {
    const before = known.get(key)
    if (before !== undefined) return before
    known.set(key, false) // until known; dependencies have no cycle
    const item = byKey.get(key)
    const waits = item?.waitsFor ?? []
    const answer = item?.verdict === 'change' || (waits.length > 0 && waits.every(comes))
    known.set(key, answer)
    return answer
  }
  return items.map((item) => {
    if (item.waitsFor.length === 0) return item
    if (!comes(item.key)) return { ...item, before: undefined, desired: undefined }
    const missing = runs.get(item.key)?.assessment?.input.surroundings.missingSecrets ?? []
    if (missing.length === 0) return { ...item, verdict: 'waits' }
    const reason = 'SecretUnavailable'
    return { ...item, reason, because: { reason, facts: { missing } } }
  })
}
