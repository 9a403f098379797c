import type { ServerParts } from './parts.ts'
import { fastify, type FastifyInstance } from 'fastify'
import { registerApi, registerMetrics, registerMetricsMoved, registerProbes, registerPage } from './routes.ts'
import { openListener } from './listener.ts'
import { registerBodies } from './parameters.ts'
import { registerReplies } from './replies.ts'
import { registerWhoAsks } from './who-asks.ts'

export interface Server {
  /** Where it can be reached from this machine, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly port: number
  /** Where probes and metrics have a listener of their own. */
  readonly metricsUrl: string | undefined
  /** Ends event streams, lets replies finish for a moment, and closes the ports. */
  close(): Promise<void>
}

/**
 * The HTTP server of design §8, for machines and for people: on one port, or with probes and metrics on another.
 * @throws when a port cannot be had; the message says which and why
 */
export async function startServer(parts: ServerParts): Promise<Server> {
  const { clock, emit } = parts
  const common = { clock, emit }
  const main = await openListener(await createApp(parts), {
    ...common,
    setting: 'listen',
    on: parts.listen,
  })
  const metrics =
    parts.metricsListen === undefined
      ? undefined
      : await openListener(createMetricsApp(parts), {
          ...common,
          setting: 'metrics-listen',
          on: parts.metricsListen,
        }).catch(async (error: unknown) => {
          await main.close()
          throw error
        })
  return {
    url: main.url,
    port: main.port,
    metricsUrl: metrics?.url,
    async close() {
      // To the end somebody may look whether it still lives.
      await main.close()
      await metrics?.close()
    },
  }
}

/** Requests say a key at most. */
const BODY_LIMIT_BYTES = 4_096

/** For the whole of a request to arrive, and for its headers. */
const REQUEST_TIMEOUT_MS = 10_000

/** How often Node looks for requests that did not arrive in time; 30 s unless set. */
const LOOK_MS = 1_000

/** A connection on which nothing was sent or taken for this time is closed, also in the middle of a reply. */
const IDLE_TIMEOUT_MS = 60_000

/** A connection is kept open for the next scrape, which mostly comes within a minute. */
const KEEP_ALIVE_MS = 72_000

/** The page, the API, and the probes; closing it ends event streams as well. */
async function createApp(parts: ServerParts): Promise<FastifyInstance> {
  const app = createBareApp()
  registerWhoAsks(app, parts.hosts, 'all')
  registerBodies(app)
  registerProbes(app, parts)
  if (parts.metricsListen === undefined) registerMetrics(app, parts)
  else registerMetricsMoved(app)
  app.register(async (api) => registerApi(api, parts))
  await registerPage(app)
  return app
}

function createMetricsApp(parts: ServerParts): FastifyInstance {
  const app = createBareApp()
  registerWhoAsks(app, parts.hosts, 'of browsers')
  registerProbes(app, parts)
  registerMetrics(app, parts)
  return app
}

/** What every reply has in common. */
function createBareApp(): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: LOOK_MS },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  registerReplies(app)
  return app
}

/** Without this, fastify loads its compilers of schemas, which takes longer than all of the rest of it. */
function noSchemas(): never {
  throw new Error('no route has a schema: what comes in is checked by the route itself')
}
