import { PIPE as PIPE_KIND } from '../../../src/kinds/profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT } from '../../../src/kinds/profiles/default/query-endpoint/kind.ts'
import type { RemoteResource } from '../../../src/kinds/remote-resource.ts'
import { createPlatform, type PlatformClient, type PlatformOptions } from '../../../src/platform/clients.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { Event } from '../../../src/contract/events.ts'
import type { CreateRequest, ReadOptions, Reply, ServiceAccess } from '../../../src/contract/platform.ts'
import { createFreshSecrets, readSecretFile, type FreshSecrets } from '../../../src/platform/secret-store.ts'
import { RemoteError } from '../../../src/contract/remote-error.ts'
import { NO_PROXIES } from '../../../src/lib/proxy.ts'
import type { NetworkSettings } from '../../../src/platform/network.ts'
import { createModelSecrets } from '../../reconcile/model-secrets.ts'
import { realClock } from './clock.ts'
import { httpServer, type TestServer } from './server.ts'

export const ORGANIZATION = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11'
export const SERVICE = '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44'
export const PIPE = '3c9a52d4-6a77-4f0f-8a43-0b8d1f6a7e10'
export const PIPES_PATH = `/v1/organizations/${ORGANIZATION}/services/${SERVICE}/pipes`
export const KEY_ID = 'key-id-5f2d'
export const KEY_SECRET = 'key-secret-c0ffee-77'
export const TOKEN = 'alert-token-9a8b7c6d'

export const access: ServiceAccess = {
  name: 'analytics',
  organizationId: ORGANIZATION,
  serviceId: SERVICE,
  secretName: 'analytics-api',
}

export function readOptions(signal: AbortSignal = new AbortController().signal): ReadOptions {
  return { priority: 0, signal }
}

export function admitOptions(signal?: AbortSignal, looksFirst = false) {
  return { ...readOptions(signal), looks: looksFirst ? 1 : 0 } as const
}

/** A create that may go out whenever. */
export function createRequest(body: string, intentId: string): CreateRequest {
  return { body, intentId, notAfter: Infinity }
}

/** Mounted secrets in memory; the map may change while it is used. */
export function secretsOf(
  values: Map<string, string>,
  clock: Pick<Clock, 'monotonic'> = realClock,
): FreshSecrets {
  return createFreshSecrets({ ...createModelSecrets(values), readFile: readSecretFile }, clock)
}

export function apiKey(keySecret: string = KEY_SECRET): Map<string, string> {
  return new Map([
    ['analytics-api/keyId', KEY_ID],
    ['analytics-api/keySecret', keySecret],
  ])
}

export interface TestPlatform extends AsyncDisposable, ReturnType<typeof operationsOf> {
  readonly client: PlatformClient
  readonly events: Event[]
}

/** No proxy, and TLS as Node does it. */
export const DIRECT: NetworkSettings = {
  proxies: NO_PROXIES,
  tls: { caFile: undefined, certFile: undefined, keyFile: undefined },
}

/** A client with short limits and no waits between attempts. */
export function platform(options: Partial<PlatformOptions>): TestPlatform {
  const events: Event[] = []
  const client = createPlatform({
    baseUrl: undefined,
    alertsBaseUrl: undefined,
    alertsTokenFile: '/secrets/alerts/token',
    secrets: secretsOf(apiKey()),
    network: DIRECT,
    budget: { requests: 1_000, windowMs: 1_000 },
    requestTimeoutMs: 5_000,
    createDeadlineMs: 5_000,
    clock: realClock,
    emit: (event) => events.push(event),
    random: () => 0,
    userAgent: 'pipewright/test',
    ...options,
  })
  return {
    client,
    events,
    ...operationsOf(client),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

export async function sendCreate({ client }: TestPlatform): Promise<Reply<RemoteResource>> {
  const permit = await client.admitCreate(PIPE_KIND, access, admitOptions())
  return permit.send(createRequest('{}', 'intent-1'))
}

/** The error of a promise that must fail as the platform fails. */
export async function failure(promise: Promise<unknown>): Promise<RemoteError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof RemoteError) return error
  throw new Error('expected a RemoteError', { cause: error })
}

const REQUEST_ID = 'b6a1f0de-0000-4000-8000-000000000001'

export function envelope(result: unknown, status = 200, requestId = REQUEST_ID): string {
  return JSON.stringify({ status, requestId, result })
}

/** A client of a server that answers as told. */
export async function facing(
  answer: Parameters<typeof httpServer>[0],
  options: Partial<PlatformOptions> = {},
): Promise<Facing> {
  return facingServer(await httpServer(answer), options)
}

export interface Facing extends TestPlatform {
  readonly server: TestServer
}

/** As {@link facing}. @param baseUrl another way to the server */
export function facingServer(
  server: TestServer,
  options: Partial<PlatformOptions> = {},
  baseUrl = server.url,
): Facing {
  const its = platform({ baseUrl, ...options })
  return {
    ...its,
    server,
    async [Symbol.asyncDispose]() {
      await its[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

function operationsOf(client: PlatformClient) {
  return {
    read: (signal?: AbortSignal) =>
      client.read({ kind: PIPE_KIND, service: access, id: PIPE }, readOptions(signal)),
    upsert: (signal?: AbortSignal) =>
      client.upsert(QUERY_ENDPOINT, access, async () => '{}', readOptions(signal)),
    admit: (signal?: AbortSignal) => client.admitCreate(PIPE_KIND, access, admitOptions(signal)),
    async create(body = '{}') {
      const permit = await client.admitCreate(PIPE_KIND, access, admitOptions())
      return permit.send(createRequest(body, 'intent-1'))
    },
  }
}
