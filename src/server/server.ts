import type { ServerParts } from './parts.ts'
import { fastify, type FastifyInstance } from 'fastify'
import { registerApi, registerMetrics, registerMetricsMoved, registerProbes, registerPage } from './routes.ts'
import { openListener } from './listener.ts'
import { registerBodies } from './parameters.ts'
import { registerReplies, sendError } from './replies.ts'
import { registerWhoAsks } from './origin-guard.ts'

export type Server = Awaited<ReturnType<typeof startServer>>

export async function startServer(parts: ServerParts) {
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
      // The metrics listener closes last, because it also answers probes.
      await main.close()
      await metrics?.close()
    },
  }
}

const BODY_LIMIT_BYTES = 4_096

const REQUEST_TIMEOUT_MS = 10_000

/** Node looks for late requests at this interval. Default: 30 s. */
const LOOK_MS = 1_000

/** Node closes a connection after this time without traffic, even during a reply. */
const IDLE_TIMEOUT_MS = 60_000

/** Ms. Longer than a minute, the usual time between scrapes, which can then share a connection. */
const KEEP_ALIVE_MS = 72_000

async function createApp(parts: ServerParts): Promise<FastifyInstance> {
  const app = createBareApp(parts)
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
  const app = createBareApp(parts)
  registerWhoAsks(app, parts.hosts, 'of browsers')
  registerProbes(app, parts)
  registerMetrics(app, parts)
  return app
}

function createBareApp({ emit }: Pick<ServerParts, 'emit'>): FastifyInstance {
  const app = fastify({
    logger: false,
    // A URL that cannot be decoded has no route.
    frameworkErrors: (error, _request, reply) => sendError(error, reply),
    bodyLimit: BODY_LIMIT_BYTES,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: LOOK_MS },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  registerReplies(app, emit)
  return app
}

/** Replaces Fastify's schema compilers, which are its slowest part. */
function noSchemas(): never {
  throw new Error('no route has a schema: each route checks its own input')
}
