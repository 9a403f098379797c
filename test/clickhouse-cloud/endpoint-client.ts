import type { Ledger } from '../../src/contract/ledger.ts'
import type { PlanItem } from '../../src/contract/plan.ts'
import { makePlan } from '../../src/daemon/planning.ts'
import type { Key } from '../../src/kinds/key.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import { createMemoryLedger } from '../../src/ledger/memory-backend.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { Secret } from '../../src/lib/secret.ts'
import { catalogOfTexts } from '../../src/manifest/tree-catalog.ts'
import { messageOf } from '../../src/plan/reason.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import { createDryContext } from '../../src/reconcile/dry-run/dry-context.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { createdOf, recordedOf } from '../../src/reconcile/state/recorded.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { realClock } from '../platform/support/clock.ts'
import { platform, secretsOf } from '../platform/support/platform.ts'
import { BASE, ORGANIZATION, SERVICE_ID, startAsker, type Asker } from './ask.ts'

/* The client with a manifest of a query endpoint, against the strict server: in this process, with a clock that tests move. */

export const KEY = 'QueryEndpoint/analytics'
export const PATH = '/serviceQueryEndpoint'

export const KEY_A = '11111111-1111-4111-8111-111111111111'
export const KEY_B = '22222222-2222-4222-8222-222222222222'

/** What manifests ask for, unless a test says otherwise. */
export const SPEC = {
  roles: ['sql_console_read_only'],
  openApiKeys: [KEY_A],
  allowedOrigins: 'app.example.com',
}

/** What outlives a process: the service, the ledger, and time. */
export interface Around {
  readonly asker: Asker
  readonly ledger: Ledger
  readonly time: { skipped: number }
}

export interface EndpointClient extends AsyncDisposable {
  readonly around: Around
  readonly context: ReconcileContext
  /** Manifests of query endpoints by name, beside that of the service; each with its spec and its policy. */
  want(
    manifests: Readonly<Record<string, { readonly spec?: JsonObject; readonly policy?: JsonObject }>>,
    more?: Readonly<Record<string, string>>,
  ): Promise<void>
  reconcile(key?: Key): Promise<ReconcileResult>
  /** What a plan says of a key now. */
  plan(key?: Key): Promise<PlanItem | undefined>
  /** Requests to the endpoint since it was asked the last time: `GET 200`. */
  sent(): readonly string[]
  /** Somebody else sets the endpoint, or takes it away. */
  set(body: JsonObject | undefined): Promise<void>
  skip(ms: number): void
  /** Reason and message of the last reconcile, as they are shown. */
  shown(key?: Key): { readonly status: string; readonly reason: string; readonly message: string } | undefined
}

const SERVICE = {
  apiVersion: 'pipewright/v1',
  kind: 'Service',
  metadata: { name: 'analytics' },
  spec: { organizationId: ORGANIZATION, serviceId: SERVICE_ID, credentials: { secretRef: { name: 'api' } } },
}

export async function around(): Promise<Around & AsyncDisposable> {
  const asker = await startAsker()
  return {
    asker,
    ledger: createMemoryLedger({ emit: () => undefined, hashKey: new Uint8Array(32).fill(7) }),
    time: { skipped: 0 },
    [Symbol.asyncDispose]: () => asker[Symbol.asyncDispose](),
  }
}

/** One process. @param options of the platform client, such as its budget */
export async function startProcess(
  world: Around,
  options: Partial<PlatformOptions> & Partial<Pick<ReconcileContext, 'ledger'>> = {},
): Promise<EndpointClient> {
  const { asker, time } = world
  const { server } = asker
  const mounted = new Map([
    ['api/keyId', 'key-1'],
    ['api/keySecret', 'se:cret'],
  ])
  const clock = {
    ...realClock,
    now: () => realClock.now() + time.skipped,
    monotonic: () => realClock.monotonic() + time.skipped,
  }
  const ledger = options.ledger ?? world.ledger
  const platformSecrets = secretsOf(mounted, clock)
  const { client } = platform({
    baseUrl: server.url,
    secrets: platformSecrets,
    clock,
    idempotentRetries: 0,
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
  const store = createStateStore({ profile: CLICKHOUSE_CLOUD, hashKey: ledger.hashKey, clock })
  for (const record of await ledger.list()) store.note(record)
  const board = createBoard()
  let ids = 0
  const context: ReconcileContext = {
    profile: CLICKHOUSE_CLOUD,
    platform: client,
    ledger,
    secrets,
    mask: platformSecrets.mask,
    mounted: secrets,
    store,
    clock,
    emit: () => undefined,
    random: () => 0.5,
    newId: () => `a0000000-0000-4000-8000-${String((ids += 1)).padStart(12, '0')}`,
    timing: { intervalMs: 300_000, resyncMs: 3_600_000 },
    healthyStates: undefined,
    maxCreates: 25,
  }
  const reconciler = createReconciler(context, board)
  const signal = new AbortController().signal
  let seenBefore = server.seen().length

  return {
    around: world,
    context,
    async want(manifests, more = {}) {
      const texts = {
        ...Object.fromEntries(
          Object.entries(manifests).map(([name, { spec = SPEC, policy }]) => [
            `${name}.json`,
            JSON.stringify({
              apiVersion: 'pipewright/v1',
              kind: 'QueryEndpoint',
              metadata: { name },
              ...(policy && { policy }),
              spec: { service: 'analytics', ...spec },
            }),
          ]),
        ),
        'service.json': JSON.stringify(SERVICE),
        ...more,
      }
      const files = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))
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
    },
    reconcile: (key = KEY) =>
      reconciler.reconcile(key, {
        priority: 0,
        stopping: signal,
        reconcileId: context.newId(),
        changedAt: undefined,
        releaseSlot: async () => undefined,
      }),
    async plan(key = KEY) {
      const { catalog } = store
      if (catalog === undefined) throw new Error('there are no manifests yet')
      const copy = createMemoryLedger({ emit: () => undefined, hashKey: ledger.hashKey })
      for (const record of await ledger.list()) await copy.swap({ ...record, version: 0 }, [])
      const dry = await createDryContext(context, { copy, catalog })
      const result = await makePlan({
        context: dry,
        manifests: 'manifests',
        settled: new Map(),
        concurrency: 4,
        urgency: 'last',
        stopping: signal,
        onProgress: () => undefined,
      })
      return result.is === 'whole' ? result.plan.items.find((item) => item.key === key) : undefined
    },
    sent() {
      const seen = server.seen().slice(seenBefore)
      seenBefore = server.seen().length
      return seen
        .filter(({ path }) => path === `${BASE}${PATH}`)
        .map(({ method, status }) => `${method} ${status}`)
    },
    async set(body) {
      await (body === undefined ? asker.ask('DELETE', PATH) : asker.ask('POST', PATH, body))
      seenBefore = server.seen().length
    },
    skip: (ms) => void (time.skipped += ms),
    shown: (key = KEY) => board.get(key),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

export function saidBy({ action }: Pick<ReconcileResult, 'action'>): string {
  return messageOf(action, KEY)
}
