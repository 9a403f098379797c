import type { Key } from '../../src/kinds/key.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { planMessage } from '../../src/contract/plan.ts'
import { messageOf } from '../../src/plan/reason.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { BASE } from './ask.ts'
import {
  type Around,
  manifestOf,
  reach,
  SERVICE,
  startAround,
  startProcess as begin,
  type Wanted,
} from './reach.ts'

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

export type EndpointClient = Awaited<ReturnType<typeof startProcess>>

/** One process. @param options of the platform client, such as its budget */
export async function startProcess(
  world: Around,
  options: Partial<PlatformOptions> & Partial<Pick<ReconcileContext, 'ledger'>> = {},
) {
  const { asker, http, time } = world
  const { server } = asker
  const ledger = options.ledger ?? world.ledger
  const { client, shared } = reach(http.url, time, { idempotentRetries: 0, ...options })
  const process = await begin({ ...shared, ledger })
  let seenBefore = server.seen().length

  return {
    around: world,
    context: process.context,
    /** Manifests of query endpoints by name, beside that of the service; each with its spec and its policy. */
    async want(
      manifests: Readonly<Record<string, Partial<Wanted>>>,
      more: Readonly<Record<string, string>> = {},
    ) {
      const own = Object.entries(manifests).map(([name, { spec = SPEC, policy }]) => [
        `${name}.json`,
        manifestOf('QueryEndpoint', name, { spec, policy }),
      ])
      await process.read({ ...Object.fromEntries(own), 'service.json': SERVICE, ...more })
    },
    reconcile: (key: Key = KEY) => process.reconcile(key),
    async plan(key: Key = KEY) {
      const item = await process.plan(key)
      return item && { ...item, message: planMessage(item, {}) }
    },
    /** Requests to the endpoint since it was asked the last time: `GET 200`. */
    sent() {
      const seen = server.seen().slice(seenBefore)
      seenBefore = server.seen().length
      return seen
        .filter(({ path }) => path === `${BASE}${PATH}`)
        .map(({ method, status }) => `${method} ${status}`)
    },
    /** Somebody else sets the endpoint, or takes it away. */
    set(body: JsonObject | undefined) {
      if (body === undefined) asker.ask('DELETE', PATH)
      else asker.ask('POST', PATH, body)
      seenBefore = server.seen().length
    },
    /** As the service has it. */
    endpoint: () => server.endpoint(),
    skip: (ms: number) => time.skip(ms),
    shown: (key: Key = KEY) => process.shown(key),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

/** One process in a world of its own, which ends with it. */
export async function startEndpoint(options?: Parameters<typeof startProcess>[1]): Promise<EndpointClient> {
  const world = await startAround()
  const client = await startProcess(world, options)
  return {
    ...client,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

/** It has applied an endpoint. */
export async function startApplied(policy?: JsonObject): Promise<EndpointClient> {
  const client = await startEndpoint()
  await client.want({ analytics: { ...(policy && { policy }) } })
  await client.reconcile()
  return client
}

export function saidBy({ action }: Pick<ReconcileResult, 'action'>): string {
  return messageOf(action, { key: KEY })
}
