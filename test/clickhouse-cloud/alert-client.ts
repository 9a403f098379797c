import { expect } from 'vitest'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { BASE } from './ask.ts'
import { manifestOf, newLedger, reach, SERVICE, settled, startAround, startProcess } from './reach.ts'
import type { Interfere } from './strict-wire.ts'
import type { StrictOptions } from './strict-server.ts'

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

export type AlertClient = Awaited<ReturnType<typeof startAlerts>>

export async function startAlerts(
  options: Partial<StrictOptions> = {},
  limits: Partial<Pick<PlatformOptions, 'budget'>> = {},
) {
  const { asker, time, http, ledger: first } = await startAround(options)
  const { server } = asker
  const { client, shared } = reach(http.url, time, { idempotentRetries: 0, ...limits })
  let ledger = first
  const begin = () => startProcess({ ...shared, ledger, fail: undefined })
  let process = await begin()
  let documents: readonly JsonObject[] = []
  let seenBefore = 0
  const read = () =>
    process.read(Object.fromEntries([SERVICE, ...documents].map((one, at) => [`${at}.json`, one])))

  async function want(manifests: Readonly<Record<string, Wanted>>, more: readonly JsonObject[] = []) {
    const alerts = Object.entries(manifests).flatMap(([name, wanted]) =>
      wanted === undefined ? [] : [manifestOf('Alert', name, { spec: SPEC, ...wanted })],
    )
    documents = [...alerts, ...more]
    return read()
  }

  const settle = (key: Key = KEY) =>
    settled(
      () => process.reconcile(key),
      () => false,
      time,
    )

  return {
    asker,
    context: () => process.context,
    /** Manifests of alerts by name, each with `spec.service` unless it says none. @returns what is wrong with them */
    want,
    /** This manifest is right and alone, and all comes to rest. */
    async apply(lag: Wanted = {}) {
      expect(await want({ lag })).toEqual([])
      await settle()
    },
    /** There is no manifest of an alert any more, and three readings agree. */
    async remove() {
      documents = []
      for (let count = 0; count < 3; count += 1) await read()
    },
    reconcile: (key: Key = KEY, how?: 'asked' | 'in passing') => process.reconcile(key, how),
    settle,
    plan: (key: Key = KEY) => process.plan(key),
    /** Another process goes on with the same ledger and manifests; or with an empty ledger. */
    async restart(is?: 'lost') {
      if (is === 'lost') ledger = newLedger()
      process = await begin()
      await read()
    },
    interfere: (how: Interfere | undefined) => http.interfere(how),
    /** Requests about alerts since it was asked the last time: `GET`, `POST`; of one alert `PUT …`. */
    sent() {
      const seen = server.seen().slice(seenBefore)
      seenBefore = server.seen().length
      return seen
        .filter(({ path }) => path.startsWith(`${BASE}${PATH}`))
        .map(({ method, path, status }) => {
          const id = path.slice(BASE.length + PATH.length)
          return `${method}${id === '' ? '' : ' …'}${status === 200 ? '' : ` ${status}`}`
        })
    },
    /** Bodies of those that write. */
    bodies: () =>
      server.seen().flatMap(({ body, method }) => (body === undefined || method === 'GET' ? [] : [body])),
    alerts: () => server.alerts(),
    /** Somebody else changes the one with this id. */
    change(id: string, fields: JsonObject) {
      const found = server.alerts().find((one) => one['id'] === id)
      if (found === undefined) throw new Error(`there is no alert ${id}`)
      Object.assign(found, fields)
    },
    skip: (ms: number) => time.skip(ms),
    record: (key: Key = KEY) => process.context.store.record(key),
    history: (key: Key = KEY): Promise<readonly HistoryEntry[]> => ledger.history({ key, limit: 1_000 }),
    shown: (key: Key = KEY) => process.shown(key),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await http[Symbol.asyncDispose]()
    },
  }
}
