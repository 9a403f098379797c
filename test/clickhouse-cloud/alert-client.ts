import { createMemoryLedger } from '../../src/ledger/memory-backend.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import type { PlanItem } from '../../src/contract/plan.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Catalog } from '../../src/contract/catalog.ts'
import { makePlan } from '../../src/daemon/planning.ts'
import type { Key } from '../../src/kinds/key.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import { Secret } from '../../src/lib/secret.ts'
import { catalogOfTexts } from '../../src/manifest/tree-catalog.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
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
import { startFaultyProxy, type Interfere } from './faulty-proxy.ts'
import type { Seen, StrictOptions } from './strict-server.ts'

/* The client with manifests of alerts, against the strict server: in this process, with a clock that tests move. */

export const KEY = 'Alert/lag'
export const PATH = '/clickstack/alerts'

export const WEBHOOK = { type: 'webhook', webhookId: '66d0f1a2b3c4d5e6f7a8b9aa' } as const

/** What the manifest asks for, unless a test says otherwise. */
export const SPEC = {
  name: 'Lag',
  source: 'saved_search',
  savedSearchId: '66d0f1a2b3c4d5e6f7a8b9d0',
  threshold: 10,
  thresholdType: 'above',
  interval: '5m',
  channel: WEBHOOK,
} as const satisfies JsonObject

/** A manifest; nothing: there is none of that name. */
export type Wanted = { readonly spec?: JsonObject; readonly policy?: JsonObject } | undefined

/** A process that ends in the middle. */
export class Killed extends Error {}

/** Where it ends: at a failpoint of the engine. */
export type Place = Parameters<NonNullable<ReconcileContext['fail']>>[0]

export interface AlertClient extends AsyncDisposable {
  readonly asker: Asker
  readonly context: () => ReconcileContext
  /** Manifests of alerts by name, each with `spec.service` unless it says none. @returns what is wrong with them */
  want(manifests: Readonly<Record<string, Wanted>>, more?: readonly JsonObject[]): Promise<readonly string[]>
  /** There is no manifest of an alert any more, and three readings agree. */
  remove(): Promise<void>
  reconcile(key?: Key, how?: 'asked' | 'in passing'): Promise<ReconcileResult>
  /** Reconciles for as long as the queue would do so soon. */
  settle(key?: Key): Promise<ReconcileResult>
  plan(key?: Key): Promise<PlanItem | undefined>
  /** Another process goes on with the same ledger and manifests; or with an empty ledger. */
  restart(ledger?: 'lost'): Promise<void>
  /** Ends the process there, once. */
  killAt(place: Place): void
  interfere(how: Interfere | undefined): void
  /** Requests about alerts since it was asked the last time: `GET`, `POST`; of one alert `PUT …`. */
  sent(): readonly string[]
  /** Bodies of those that write. */
  bodies(): readonly Json[]
  alerts(): readonly JsonObject[]
  /** Somebody else changes the one with this id. */
  change(id: string, fields: JsonObject): void
  skip(ms: number): void
  record(key?: Key): LedgerRecord | undefined
  history(key?: Key): Promise<readonly HistoryEntry[]>
  shown(key?: Key): { readonly status: string; readonly reason: string; readonly message: string } | undefined
}

const SERVICE = {
  apiVersion: 'pipewright/v1',
  kind: 'Service',
  metadata: { name: 'analytics' },
  spec: { organizationId: ORGANIZATION, serviceId: SERVICE_ID, credentials: { secretRef: { name: 'api' } } },
}

const NOBODY = () => undefined
const HASH_KEY = new Uint8Array(32).fill(7)

function newLedger(): Ledger {
  return createMemoryLedger({ emit: NOBODY, hashKey: HASH_KEY })
}

export async function startAlerts(
  options: Partial<StrictOptions> = {},
  limits: Partial<Pick<PlatformOptions, 'budget'>> = {},
): Promise<AlertClient> {
  const asker = await startAsker(options)
  const { server } = asker
  const proxy = await startFaultyProxy(server.url)
  const mounted = new Map([
    ['api/keyId', 'key-1'],
    ['api/keySecret', 'se:cret'],
  ])
  let skipped = 0
  const clock = {
    ...realClock,
    now: () => realClock.now() + skipped,
    monotonic: () => realClock.monotonic() + skipped,
  }
  const platformSecrets = secretsOf(mounted, clock)
  const { client } = platform({
    baseUrl: proxy.url,
    requestTimeoutMs: 400,
    secrets: platformSecrets,
    clock,
    idempotentRetries: 0,
    ...limits,
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
  let ledger = newLedger()
  let kill: Place | undefined
  let ids = 0
  const begin = () => {
    const store = createStateStore({ profile: CLICKHOUSE_CLOUD, hashKey: ledger.hashKey, clock })
    const board = createBoard()
    const context: ReconcileContext = {
      profile: CLICKHOUSE_CLOUD,
      platform: client,
      ledger,
      secrets,
      mask: platformSecrets.mask,
      mounted: secrets,
      store,
      clock,
      emit: NOBODY,
      random: () => 0.5,
      newId: () => `a0000000-0000-4000-8000-${String((ids += 1)).padStart(12, '0')}`,
      timing: { intervalMs: 300_000, resyncMs: 3_600_000 },
      healthyStates: undefined,
      maxCreates: 25,
      fail: async (place) => {
        if (kill !== place) return
        kill = undefined
        throw new Killed()
      },
    }
    return { store, board, context, reconciler: createReconciler(context, board) }
  }
  let process = begin()
  let documents: readonly JsonObject[] = []
  const signal = new AbortController().signal
  let seenBefore = 0

  async function read(): Promise<Catalog> {
    const { store } = process
    const files = Object.fromEntries(
      [SERVICE, ...documents].map((document, index) => [`${index}.json`, JSON.stringify(document)]),
    )
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
  }

  function seen(): readonly Seen[] {
    const all = server.seen().slice(seenBefore)
    return all.filter(({ path }) => path.startsWith(`${BASE}${PATH}`))
  }

  const made: AlertClient = {
    asker,
    context: () => process.context,
    async want(manifests, more = []) {
      const alerts = Object.entries(manifests).flatMap(([name, wanted]) =>
        wanted === undefined ? [] : [manifestOf(name, wanted)],
      )
      documents = [...alerts, ...more]
      const { findings } = await read()
      return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message)
    },
    async remove() {
      documents = []
      for (let count = 0; count < 3; count += 1) await read()
    },
    reconcile: (key = KEY, how) =>
      process.reconciler.reconcile(key, {
        priority: how === 'in passing' ? 2 : 0,
        stopping: signal,
        reconcileId: process.context.newId(),
        changedAt: undefined,
        isAsked: how === 'asked',
        releaseSlot: async () => undefined,
      }),
    async settle(key = KEY) {
      for (let count = 0; count < 100; count += 1) {
        const result = await made.reconcile(key)
        if (result.next === undefined || result.next.why === 'drift') return result
        skipped += result.next.afterMs
      }
      throw new Error(`it does not come to rest: ${made.shown(key)?.message}`)
    },
    async plan(key = KEY) {
      const { context } = process
      const { catalog } = context.store
      if (catalog === undefined) throw new Error('there are no manifests yet')
      const copy = newLedger()
      for (const record of await ledger.list()) await copy.swap({ ...record, version: 0 }, [])
      const dry = await createDryContext(context, { copy, catalog })
      const result = await makePlan({
        context: dry,
        manifests: 'manifests',
        settled: new Map(),
        concurrency: 4,
        urgency: 'last',
        stopping: signal,
        onProgress: NOBODY,
      })
      return result.is === 'whole' ? result.plan.items.find((item) => item.key === key) : undefined
    },
    async restart(is) {
      if (is === 'lost') ledger = newLedger()
      process = begin()
      for (const record of await ledger.list()) process.store.note(record)
      await read()
    },
    killAt: (place) => void (kill = place),
    interfere: (how) => proxy.interfere(how),
    sent() {
      const requests = seen().map(({ method, path, status }) => {
        const id = path.slice(BASE.length + PATH.length)
        return `${method}${id === '' ? '' : ' …'}${status === 200 ? '' : ` ${status}`}`
      })
      seenBefore = server.seen().length
      return requests
    },
    bodies: () =>
      server.seen().flatMap(({ body, method }) => (body === undefined || method === 'GET' ? [] : [body])),
    alerts: () => server.alerts(),
    change(id, fields) {
      const found = server.alerts().find((one) => one['id'] === id)
      if (found === undefined) throw new Error(`there is no alert ${id}`)
      Object.assign(found, fields)
    },
    skip: (ms) => void (skipped += ms),
    record: (key = KEY) => process.store.record(key),
    history: (key = KEY) => ledger.history({ key, limit: 1_000 }),
    shown: (key = KEY) => process.board.get(key),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
      await asker[Symbol.asyncDispose]()
    },
  }
  return made
}

function manifestOf(name: string, { spec = SPEC, policy }: NonNullable<Wanted>): JsonObject {
  return {
    apiVersion: 'pipewright/v1',
    kind: 'Alert',
    metadata: { name },
    ...(policy && { policy }),
    spec: { service: 'analytics', ...spec },
  }
}
