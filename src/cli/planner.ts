import { setImmediate } from 'node:timers/promises'
import { createdOf, recordedOf } from '../reconcile/state/recorded.ts'
import { makePlan, type Settled } from '../daemon/planning.ts'
import type { Key } from '../kinds/key.ts'
import { serviceOf } from '../kinds/manifest.ts'
import { serviceKey } from '../kinds/service/kind.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { createDryPlatform } from '../reconcile/dry-run/dry-platform.ts'
import { createStateStore, type StateStore } from '../reconcile/state/store.ts'
import { catalogOfTexts } from '../manifest/source.ts'
import type { Settings } from '../config/settings.ts'
import type { Catalog } from '../contract/catalog.ts'
import { openMemoryLedger } from '../ledger/open-sqlite-ledger.ts'
import type { Plan, PlanRequest } from '../contract/plan.ts'
import type { Operator } from '../server/parts.ts'
import { RequestError } from '../server/replies.ts'
import type { Engine } from './compose.ts'
import { nobody } from './io.ts'

type Planning = Pick<Engine, 'context' | 'board' | 'forgetSecrets'> & {
  readonly platform: Pick<Engine['platform'], 'beside'>
}

/** Maximum time of a plan, with its waits for the request budget. */
const LONGEST_MS = 10 * 60_000

/** Plans with the daemon's ledger, secrets and request budget, at low priority. */
export function createPlanner(
  engine: Planning,
  { concurrency }: Pick<Settings, 'concurrency'>,
  stopping: AbortSignal,
): Operator['plan'] {
  const { context, platform } = engine
  return async (request, gone) => {
    const late = AbortSignal.timeout(LONGEST_MS)
    const signal = AbortSignal.any([gone, stopping, late])
    return planned(request, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
      throw new RequestError(
        503,
        late.aborted ? 'the plan took too long' : 'the plan was stopped',
        'Request the plan again. If it has many resources, a higher --api-budget makes it faster.',
      )
    })
  }

  async function planned(request: PlanRequest, signal: AbortSignal): Promise<Plan> {
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
    const plan = await makePlan({
      context: dry,
      settled: checkedLately(engine, dry),
      manifests: request.manifests,
      concurrency,
      urgency: 'last',
      stopping: signal,
      onProgress: () => undefined,
    })
    if (plan === undefined) throw signal.reason
    return plan
  }
}

/** A plan reuses checks newer than this. */
const LATELY_MS = 60 * 60_000

/** In sync at a recent check, with an unchanged manifest. Not read again: reads wait for the request budget. */
function checkedLately({ context, board }: Planning, dry: ReconcileContext): ReadonlyMap<Key, Settled> {
  const { store, clock } = context
  const settled = new Map<Key, Settled>()
  const asked = new Set<string | undefined>()
  const isPipe = (key: Key) => store.lifecycleOf(key) === 'create-once' && store.judged.has(key)
  for (const { key, action, conditions, checkedAt = 0, because } of board.list()) {
    const ageMs = clock.now() - checkedAt
    const isFine = conditions.Synced.status === 'True' && conditions.Ready.status !== 'False'
    if (action !== 'observe' || !isFine || ageMs > LATELY_MS) continue
    if (!isPipe(key) || !isAsItWas(store, dry.store, key)) continue
    const service = dry.store.record(key)?.service?.serviceId
    // Leaves one pipe of each service for the plan to read, because a read tests the credentials.
    if (asked.has(service)) settled.set(key, { because, ageMs })
    else asked.add(service)
  }
  return settled
}

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

/** Copies what the daemon saw of missing pipes, because a plan cannot wait for three 404s of its own. */
function takeOverObservations(daemon: StateStore, plan: StateStore): void {
  for (const { key, remote } of plan.records()) {
    const observation = daemon.observation(key)
    if (observation !== undefined && remote?.id === daemon.record(key)?.remote?.id)
      plan.noteObservation(key, observation)
  }
}

const AT_ONCE = 100

/** For plans: writes go to copies in memory, and requests that change the platform are not sent. */
export async function openDryWorld(
  context: Omit<ReconcileContext, 'store'>,
  catalog: Catalog,
  stack: AsyncDisposableStack,
): Promise<ReconcileContext> {
  const { profile, clock, ledger: original } = context
  const { hashKey } = original
  const ledger = stack.use(openMemoryLedger({ emit: nobody, hashKey }).ledger)
  const store = createStateStore({ profile, hashKey, clock })
  for (const [index, record] of (await original.list()).entries()) {
    store.note(await ledger.swap({ ...record, version: 0 }, []))
    // The daemon that makes this plan does other work meanwhile.
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate()
  }
  store.setCatalog(catalog)
  const platform = createDryPlatform(context.platform, context)
  return { ...context, ledger, platform, store, emit: nobody, fail: undefined }
}
