import { createdOf, recordedOf } from '../reconcile/state/recorded.ts'
import { makePlan, type Settled } from '../daemon/planning.ts'
import type { Key } from '../kinds/key.ts'
import { serviceOf } from '../kinds/manifest.ts'
import { serviceKey } from '../kinds/service/kind.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import type { StateStore } from '../reconcile/state/store.ts'
import { catalogOfTexts } from '../manifest/tree-catalog.ts'
import type { Settings } from '../config/settings.ts'
import type { PlanRequest } from '../contract/plan.ts'
import type { Planner, PlanAnswer } from '../server/parts.ts'
import type { Engine } from './compose.ts'
import { openDryWorld } from './dry-world.ts'

/** What a daemon has for it. */
type Planning = Pick<Engine, 'context' | 'board' | 'forgetSecrets'> & {
  readonly platform: Pick<Engine['platform'], 'beside'>
}

/** A plan takes as long as the request budget lets it, and not for ever: ms. */
const LONGEST_MS = 10 * 60_000

/**
 * Plans for a daemon: with its ledger, its secrets and its request budget, behind all that it does itself. Nothing of what is
 * found out, or refused, on the way changes what the daemon knows.
 */
export function createPlanner(
  engine: Planning,
  { concurrency }: Pick<Settings, 'concurrency'>,
  { adminToken, stopping }: { readonly adminToken: Planner['adminToken']; readonly stopping: AbortSignal },
): Planner {
  const { context, platform } = engine
  return {
    adminToken,
    async plan(request, gone): Promise<PlanAnswer> {
      const late = AbortSignal.timeout(LONGEST_MS)
      const signal = AbortSignal.any([gone, stopping, late])
      try {
        return await planned(request, signal)
      } catch (error) {
        if (!signal.aborted) throw error
        return { is: 'none', why: late.aborted ? 'the plan took too long' : 'the plan was stopped' }
      }
    },
  }

  async function planned(request: PlanRequest, signal: AbortSignal): Promise<PlanAnswer> {
    await using stack = new AsyncDisposableStack()
    engine.forgetSecrets()
    const records = await context.ledger.list()
    const catalog = await catalogOfTexts(request, {
      profile: context.profile,
      recorded: recordedOf(records),
      before: context.store.catalog,
      created: createdOf(records),
      signal,
    })
    const dry = await openDryWorld({ ...context, platform: platform.beside() }, catalog, stack)
    takeOverObservations(context.store, dry.store)
    const result = await makePlan({
      context: dry,
      settled: checkedLately(engine, dry),
      manifests: request.manifests,
      concurrency,
      urgency: 'last',
      stopping: signal,
      onProgress: () => undefined,
    })
    switch (result.is) {
      case 'whole':
        return { is: 'plan', plan: result.plan }
      case 'stopped':
        throw signal.reason
      case 'broken':
        throw result.bugs.values().next().value
    }
  }
}

/** What was checked not longer ago than this, and is as it was, is not read again for a plan: ms. */
const LATELY_MS = 60 * 60_000

/**
 * Pipes that the daemon found in sync a while ago, and that these manifests leave as they are: with a small request budget, reading
 * them all again would take longer than anybody waits for a plan. What others depend on is read anew.
 */
function checkedLately({ context, board }: Planning, dry: ReconcileContext): ReadonlyMap<Key, Settled> {
  const { store, clock } = context
  const settled = new Map<Key, Settled>()
  const asked = new Set<string | undefined>()
  const now = clock.now()
  for (const { key, action, conditions, checkedAt, reason, message } of board.list()) {
    if (
      store.lifecycleOf(key) !== 'create-once' ||
      action !== 'observe' ||
      conditions.Synced.status !== 'True'
    )
      continue
    if (checkedAt === undefined || now - checkedAt > LATELY_MS || !store.judged.has(key)) continue
    if (conditions.Ready.status === 'False' || !isAsItWas(store, dry.store, key)) continue
    const service = dry.store.record(key)?.service?.serviceId
    // One of each service is read all the same: it shows whether the credentials are still taken.
    if (asked.has(service)) settled.set(key, { reason, message, ageMs: now - checkedAt })
    else asked.add(service)
  }
  return settled
}

/** Whether all that bears on a pipe is in a plan what it is to the daemon. */
function isAsItWas(daemon: StateStore, plan: StateStore, key: Key): boolean {
  const [entry, planned] = [daemon.entry(key), plan.entry(key)]
  if (entry?.state !== 'valid' || planned?.state !== 'valid' || entry.digest !== planned.digest) return false
  const service = serviceKey(planned.manifest === undefined ? '' : (serviceOf(planned.manifest) ?? ''))
  return (
    plan.entry(service)?.state === 'valid' &&
    daemon.entry(service)?.digest === plan.entry(service)?.digest &&
    daemon.catalog?.locks.get(key) === plan.catalog?.locks.get(key) &&
    daemon.record(key)?.remote?.id === plan.record(key)?.remote?.id &&
    plan.dependents(key).length === 0
  )
}

/** What is counted of pipes that are not found, and who else was found beside them: a plan cannot wait for that itself. */
function takeOverObservations(daemon: StateStore, plan: StateStore): void {
  for (const { key, remote } of plan.records()) {
    const observation = daemon.observation(key)
    if (observation !== undefined && remote?.id === daemon.record(key)?.remote?.id)
      plan.noteObservation(key, observation)
  }
}
