import type { Ledger } from '../../src/contract/ledger.ts'
import type { Key } from '../../src/kinds/key.ts'
import { createMemoryLedger } from '../../src/ledger/memory-backend.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { messageOf } from '../../src/plan/reason.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { BASE, startAsker, type Asker } from './ask.ts'
import { type Process, reach, SERVICE, startProcess as begin } from './reach.ts'
import { createSkippedTime, type SkippedTime } from './skipped-time.ts'
import { serveStrict, type StrictHttp } from './strict-http.ts'

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
  readonly http: StrictHttp
  readonly time: SkippedTime
}

export interface EndpointClient extends AsyncDisposable {
  readonly around: Around
  readonly context: ReconcileContext
  /** Manifests of query endpoints by name, beside that of the service; each with its spec and its policy. */
  want(
    manifests: Readonly<Record<string, { readonly spec?: JsonObject; readonly policy?: JsonObject }>>,
    more?: Readonly<Record<string, string>>,
  ): Promise<void>
  reconcile(key?: Key): ReturnType<Process['reconcile']>
  plan(key?: Key): ReturnType<Process['plan']>
  /** Requests to the endpoint since it was asked the last time: `GET 200`. */
  sent(): readonly string[]
  /** Somebody else sets the endpoint, or takes it away. */
  set(body: JsonObject | undefined): void
  skip(ms: number): void
  shown(key?: Key): ReturnType<Process['shown']>
}

export async function around(): Promise<Around & AsyncDisposable> {
  const asker = startAsker()
  const http = await serveStrict(asker.server)
  return {
    asker,
    http,
    ledger: createMemoryLedger({ emit: () => undefined, hashKey: new Uint8Array(32).fill(7) }),
    time: createSkippedTime(),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  }
}

/** One process. @param options of the platform client, such as its budget */
export async function startProcess(
  world: Around,
  options: Partial<PlatformOptions> & Partial<Pick<ReconcileContext, 'ledger'>> = {},
): Promise<EndpointClient> {
  const { asker, http, time: clock } = world
  const { server } = asker
  const ledger = options.ledger ?? world.ledger
  const { client, shared } = reach(http.url, clock, { idempotentRetries: 0, ...options })
  const process = await begin({ ...shared, ledger })
  let seenBefore = server.seen().length

  return {
    around: world,
    context: process.context,
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
      await process.read(files)
    },
    reconcile: (key = KEY) => process.reconcile(key),
    plan: (key = KEY) => process.plan(key),
    sent() {
      const seen = server.seen().slice(seenBefore)
      seenBefore = server.seen().length
      return seen
        .filter(({ path }) => path === `${BASE}${PATH}`)
        .map(({ method, status }) => `${method} ${status}`)
    },
    set(body) {
      if (body === undefined) asker.ask('DELETE', PATH)
      else asker.ask('POST', PATH, body)
      seenBefore = server.seen().length
    },
    skip: (ms) => clock.skip(ms),
    shown: (key = KEY) => process.shown(key),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

export function saidBy({ action }: Pick<ReconcileResult, 'action'>): string {
  return messageOf(action, KEY)
}
