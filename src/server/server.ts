import type { AddressInfo } from 'node:net'
import { fastify, type FastifyInstance } from 'fastify'
import { registerAttention } from './attention.ts'
import { registerBodies } from './body.ts'
import { registerErrors } from './errors.ts'
import { registerEvents } from './events.ts'
import { registerFacets } from './facets.ts'
import { registerFindings } from './findings.ts'
import { registerHeaders } from './headers.ts'
import { registerHistory } from './history.ts'
import { registerOverview } from './overview.ts'
import { registerPage } from './page.ts'
import type { ServerParts } from './parts.ts'
import { registerProbes } from './probes.ts'
import { registerReconcile } from './reconcile.ts'
import { registerResources } from './resources.ts'
import { registerTimeline } from './timeline.ts'

/** Requests say a key at most. */
const BODY_LIMIT_BYTES = 4_096

const REQUEST_TIMEOUT_MS = 10_000

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
  const app = fastify({ logger: false, bodyLimit: BODY_LIMIT_BYTES, requestTimeout: REQUEST_TIMEOUT_MS })
  registerHeaders(app)
  registerErrors(app)
  registerBodies(app)
  registerProbes(app, parts)
  registerResources(app, parts)
  registerOverview(app, parts)
  registerAttention(app, parts)
  registerFindings(app, parts)
  registerFacets(app, parts)
  registerHistory(app, parts)
  registerTimeline(app, parts)
  registerReconcile(app, parts)
  registerEvents(app, parts)
  await registerPage(app)
  await listen(app, parts.listen)
  const { port } = app.server.address() as AddressInfo // it listens on TCP
  return { url: `http://${reachable(parts.listen.host)}:${port}`, port, close: () => close(app, parts) }
}

async function listen(app: FastifyInstance, at: ServerParts['listen']): Promise<void> {
  try {
    await app.listen({ ...at })
  } catch (error) {
    await app.close()
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot listen on ${at.host}:${at.port}: ${why}; choose another with --listen`, {
      cause: error,
    })
  }
}

/** A client that neither reads nor goes away must not hold up the end. */
async function close(app: FastifyInstance, { clock }: ServerParts): Promise<void> {
  const cancel = clock.after(CLOSE_MS, () => app.server.closeAllConnections())
  try {
    await app.close()
  } finally {
    cancel()
  }
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
