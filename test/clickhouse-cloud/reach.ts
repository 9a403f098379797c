import { makePlan } from '../../src/daemon/planning.ts'
import type { PlanItem } from '../../src/contract/plan.ts'
import type { Key } from '../../src/kinds/key.ts'
import { Secret } from '../../src/lib/secret.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { Catalog } from '../../src/contract/catalog.ts'
import { catalogOfTexts } from '../../src/manifest/source.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { createdOf, recordedOf } from '../../src/reconcile/state/recorded.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { openDryWorld } from '../../src/cli/dry-world.ts'
import { platform, secretsOf } from '../platform/support/platform.ts'
import { ORGANIZATION, SERVICE_ID } from './ask.ts'
import type { SkippedTime } from './skipped-time.ts'

export const SERVICE = {
  apiVersion: 'pipewright/v1',
  kind: 'Service',
  metadata: { name: 'analytics' },
  spec: { organizationId: ORGANIZATION, serviceId: SERVICE_ID, credentials: { secretRef: { name: 'api' } } },
}

/** More than any wait of the client, which ends by itself. */
export const REQUEST_TIMEOUT_MS = 20_000

/** The platform client of one process, with its mounted secrets, and what else a reconcile needs. */
export function reach(baseUrl: string, clock: SkippedTime, options: Partial<PlatformOptions> = {}) {
  const mounted = new Map([
    ['api/keyId', 'key-1'],
    ['api/keySecret', 'se:cret'],
  ])
  const platformSecrets = secretsOf(mounted, clock)
  const { client } = platform({
    baseUrl,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    createDeadlineMs: REQUEST_TIMEOUT_MS,
    secrets: platformSecrets,
    clock,
    ...options,
  })
  const secrets: ReconcileContext['secrets'] = {
    read: async ({ name, key }) => {
      const value = mounted.get(`${name}/${key}`)
      const file = `/secrets/${name}/${key}`
      return value === undefined
        ? { found: false, file, why: 'absent' }
        : { found: true, value: new Secret(value) }
    },
  }
  let ids = 0
  const shared = {
    profile: CLICKHOUSE_CLOUD,
    platform: client,
    secrets,
    mask: platformSecrets.mask,
    mounted: secrets,
    clock,
    emit: () => undefined,
    random: () => 0.5,
    newId: () => `a0000000-0000-4000-8000-${String((ids += 1)).padStart(12, '0')}`,
    timing: { intervalMs: 300_000, resyncMs: 3_600_000 },
    healthyStates: undefined,
    maxCreates: 25,
  } as const satisfies Omit<ReconcileContext, 'ledger' | 'store'>
  return { client, mounted, shared }
}

/** One process: what it remembers, decides and shows. */
export interface Process {
  readonly context: ReconcileContext
  /** These files are all that there is. */
  read(files: Readonly<Record<string, string>>): Promise<Catalog>
  /** @param how a person asked for it; or nothing but time has passed */
  reconcile(key: Key, how?: 'asked' | 'in passing'): Promise<ReconcileResult>
  /** What a plan says of a key now. */
  plan(key: Key): Promise<PlanItem | undefined>
  /** As the last reconcile left it. */
  shown(key: Key): { readonly status: string; readonly reason: string; readonly message: string } | undefined
}

export async function startProcess(parts: Omit<ReconcileContext, 'store'>): Promise<Process> {
  const { ledger, clock } = parts
  const store = createStateStore({ profile: CLICKHOUSE_CLOUD, hashKey: ledger.hashKey, clock })
  for (const record of await ledger.list()) store.note(record)
  const board = createBoard()
  const context: ReconcileContext = { ...parts, store }
  const reconciler = createReconciler(context, board)
  const { signal } = new AbortController()
  return {
    context,
    async read(files) {
      const records = [...store.records()]
      const catalog = await catalogOfTexts(
        { revision: { id: 'r1', from: 'content' }, files },
        {
          profile: CLICKHOUSE_CLOUD,
          recorded: recordedOf(records),
          before: store.catalog,
          created: createdOf(records),
          signal,
        },
      )
      store.setCatalog(catalog)
      return catalog
    },
    reconcile: (key, how) =>
      reconciler.reconcile(key, {
        priority: how === 'in passing' ? 2 : 0,
        stopping: signal,
        reconcileId: context.newId(),
        changedAt: undefined,
        isAsked: how === 'asked',
        releaseSlot: async () => undefined,
      }),
    plan: (key) => planOf(context, key),
    shown: (key) => board.get(key),
  }
}

async function planOf(context: ReconcileContext, key: Key): Promise<PlanItem | undefined> {
  const { catalog } = context.store
  if (catalog === undefined) throw new Error('there are no manifests yet')
  await using stack = new AsyncDisposableStack()
  const plan = await makePlan({
    context: await openDryWorld(context, catalog, stack),
    manifests: 'manifests',
    settled: new Map(),
    concurrency: 4,
    urgency: 'last',
    stopping: new AbortController().signal,
    onProgress: () => undefined,
  })
  return plan?.items.find((item) => item.key === key)
}
