import { fastify, type FastifyInstance } from 'fastify'
import { registerAttention } from './attention.ts'
import { registerBodies } from './body.ts'
import { registerErrors } from './errors.ts'
import { registerEvents } from './events.ts'
import { registerFacets } from './facets.ts'
import { registerFindings } from './findings.ts'
import { registerHeaders } from './headers.ts'
import { registerHistory } from './history.ts'
import { registerMetrics } from './metrics.ts'
import { registerOverview } from './overview.ts'
import { registerPage } from './page.ts'
import type { ServerParts } from './parts.ts'
import { registerProbes } from './probes.ts'
import { registerReconcile } from './reconcile.ts'
import { registerResources } from './resources.ts'
import { registerTimeline } from './timeline.ts'

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
  registerHeaders(app)
  registerErrors(app)
  registerBodies(app)
  registerProbes(app, parts)
  registerMetrics(app, parts)
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
  await app.ready()
  return app
}

/** Without this, fastify loads its compilers of schemas, which takes longer than all of the rest of it. */
function noSchemas(): never {
  throw new Error('no route has a schema: what comes in is checked by the route itself')
}
