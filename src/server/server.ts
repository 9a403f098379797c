import type { AddressInfo } from 'node:net'
import type { ServerParts } from './parts.ts'
import { fastify, type FastifyInstance } from 'fastify'
import { registerApi, registerMetrics, registerProbes, registerPage } from './routes.ts'
import { registerBodies } from './parameters.ts'
import { registerReplies } from './replies.ts'

/** How long a close waits for replies that are on their way. */
const CLOSE_MS = 2_000

export interface Server {
  /** Where it can be reached from this machine, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly port: number
  /** Ends event streams, lets replies finish for a moment, and closes the port. */
  close(): Promise<void>
}

/**
 * The HTTP server of design §8, for machines and for people, on one port.
 * @throws when the port cannot be had; the message says which and why
 */
export async function startServer(parts: ServerParts): Promise<Server> {
  const app = await createApp(parts)
  const { host, port: wanted } = parts.listen
  try {
    // Who asks at "localhost" tries both of its addresses; who asks at 127.0.0.1, only that one.
    await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port: wanted })
  } catch (error) {
    await app.close()
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot listen on ${host}:${wanted}: ${why}; choose another with --listen`, {
      cause: error,
    })
  }
  const { port } = app.server.address() as AddressInfo // it listens on TCP
  return {
    url: `http://${reachable(host)}:${port}`,
    port,
    async close() {
      // A client that neither reads nor goes away must not hold up the end.
      const cancel = parts.clock.after(CLOSE_MS, () => app.server.closeAllConnections())
      try {
        await app.close()
      } finally {
        cancel()
      }
    },
  }
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** Requests say a key at most. */
const BODY_LIMIT_BYTES = 4_096

/** For the whole of a request to arrive. */
const REQUEST_TIMEOUT_MS = 10_000

/** A connection is kept open for the next scrape, which mostly comes within a minute. */
const KEEP_ALIVE_MS = 72_000

/** The routes of design §8, on a server that does not listen yet; closing it ends event streams as well. */
export async function createApp(parts: ServerParts): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  registerReplies(app)
  registerBodies(app)
  registerProbes(app, parts)
  registerMetrics(app, parts)
  registerApi(app, parts)
  await registerPage(app)
  await app.ready()
  return app
}

/** Without this, fastify loads its compilers of schemas, which takes longer than all of the rest of it. */
function noSchemas(): never {
  throw new Error('no route has a schema: what comes in is checked by the route itself')
}
