import type { ServerParts, ListenOn } from './parts.ts'
import { fastify, type FastifyInstance } from 'fastify'
import { registerApi, registerMetrics, registerMetricsMoved, registerProbes, registerPage } from './routes.ts'
import { registerBodies } from './parameters.ts'
import { registerReplies, sendError } from './replies.ts'
import { registerWhoAsks } from './origin-guard.ts'
import type { Server as HttpServer, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Emit } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'

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

const CLOSE_MS = 2_000

/** Limited, because ledger, manifests and platform also need file descriptors. */
const MAX_CONNECTIONS = { listen: 256, 'metrics-listen': 64 } as const

const REPORT_MS = 60_000

export async function openListener(
  app: FastifyInstance,
  options: {
    readonly setting: keyof typeof MAX_CONNECTIONS
    readonly on: ListenOn
    readonly clock: Clock
    readonly emit: Emit
  },
) {
  const { setting, on, clock, emit } = options
  const { host, port: wanted } = on
  const limit = MAX_CONNECTIONS[setting]
  let closed = 0
  let cancelReport: (() => void) | undefined

  function report(): void {
    emit({ type: 'ConnectionsLimited', listener: setting, closed, limit })
    closed = 0
    cancelReport = undefined
  }

  limitConnections(app.server, limit, () => {
    closed += 1
    cancelReport ??= clock.after(REPORT_MS, report)
  })
  app.addHook('onClose', async () => cancelReport?.())
  try {
    await app.ready()
    await app.listen({ host: hostToBind(host), port: wanted })
  } catch (error) {
    await app.close()
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot listen on ${host}:${wanted}: ${why}; give another address with --${setting}`, {
      cause: error,
    })
  }
  // Without this listener, a failed accept would end the process.
  app.server.on('error', (error) => emit({ type: 'Bug', message: 'The HTTP server failed', error }))
  const { port } = app.server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://${reachable(host)}:${port}`,
    port,
    async close() {
      // A client that never reads its reply would keep the server open.
      using stack = new DisposableStack()
      stack.defer(clock.after(CLOSE_MS, () => app.server.closeAllConnections()))
      await app.close()
    },
  }
}

const EVERY_ADDRESS = /^[0:.]+$/

function hostToBind(host: string): string {
  // IPv4 is enough: clients of "localhost" try both.
  if (host === 'localhost') return '127.0.0.1'
  // Without a host, Node listens on IPv6 and IPv4, or on IPv4 if the kernel has no IPv6.
  return EVERY_ADDRESS.test(host) && host.includes(':') ? '' : host
}

/** Replaces a wildcard by IPv4, because a machine without IPv6 has no `::1`. */
function reachable(host: string): string {
  if (EVERY_ADDRESS.test(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * At the limit, closes the connection that has been idle longest, or else has the oldest request. Also closes a
 * client that sends requests before it gets replies, because Node would keep all replies in memory.
 */
export function limitConnections(server: HttpServer, max: number, onClosed: () => void): void {
  const replies = new Map<Socket, ServerResponse | undefined>()

  function isIdle(socket: Socket): boolean {
    return replies.get(socket)?.writableEnded !== false
  }

  function closeOne(): void {
    const socket = replies.keys().find(isIdle) ?? replies.keys().next().value
    if (socket === undefined) return
    replies.delete(socket)
    socket.destroy()
    onClosed()
  }

  server.on('connection', (socket) => {
    if (replies.size >= max) closeOne()
    replies.set(socket, undefined)
    socket.once('close', () => replies.delete(socket))
  })
  server.prependListener('request', ({ socket }, reply) => {
    if (!isIdle(socket)) socket.destroy()
    if (socket.destroyed) return
    replies.delete(socket)
    replies.set(socket, reply)
  })
}
