import { createMemoryLedger } from '../../src/ledger/memory-backend.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { BASE, startAsker, type Asker } from './ask.ts'
import { type Process, reach, REQUEST_TIMEOUT_MS, SERVICE, startProcess } from './reach.ts'
import { createSkippedTime } from './skipped-time.ts'
import { serveStrict, type Interfere } from './strict-http.ts'
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
type Place = Parameters<NonNullable<ReconcileContext['fail']>>[0]

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
  plan(key?: Key): ReturnType<Process['plan']>
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
  shown(key?: Key): ReturnType<Process['shown']>
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
  const asker = startAsker(options)
  const { server } = asker
  const clock = createSkippedTime()
  // The client finds out by its limit, which is over then.
  const http = await serveStrict(server, () => clock.skip(REQUEST_TIMEOUT_MS))
  const { client, shared } = reach(http.url, clock, { idempotentRetries: 0, ...limits })
  let ledger = newLedger()
  let kill: Place | undefined
  const begin = () =>
    startProcess({
      ...shared,
      ledger,
      fail: async (place) => {
        if (kill !== place) return
        kill = undefined
        throw new Killed()
      },
    })
  let process = await begin()
  let documents: readonly JsonObject[] = []
  let seenBefore = 0

  const read = () =>
    process.read(
      Object.fromEntries(
        [SERVICE, ...documents].map((document, index) => [`${index}.json`, JSON.stringify(document)]),
      ),
    )

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
    reconcile: (key = KEY, how) => process.reconcile(key, how),
    async settle(key = KEY) {
      for (let count = 0; count < 100; count += 1) {
        const result = await made.reconcile(key)
        if (result.next === undefined || result.next.why === 'drift') return result
        clock.skip(result.next.afterMs)
      }
      throw new Error(`it does not come to rest: ${made.shown(key)?.message}`)
    },
    plan: (key = KEY) => process.plan(key),
    async restart(is) {
      if (is === 'lost') ledger = newLedger()
      process = await begin()
      await read()
    },
    killAt: (place) => void (kill = place),
    interfere: (how) => http.interfere(how),
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
    skip: (ms) => clock.skip(ms),
    record: (key = KEY) => process.context.store.record(key),
    history: (key = KEY) => ledger.history({ key, limit: 1_000 }),
    shown: (key = KEY) => process.shown(key),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await http[Symbol.asyncDispose]()
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
