import type { Server as HttpServer } from 'node:http'
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
import { registerReconcile } from './reconcile.ts'
import { registerResources } from './resources.ts'
import { registerTimeline } from './timeline.ts'

/** Requests say a key at most. */
const BODY_LIMIT_BYTES = 4_096

/** What answers everything but the probes; closing it ends event streams, and leaves the port open. */
export type App = Pick<FastifyInstance, 'routing' | 'close'>

/** The routes of design §8, on a server that listens already. */
export async function createApp(http: HttpServer, parts: ServerParts): Promise<App> {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    serverFactory: () => http,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  registerHeaders(app)
  registerErrors(app)
  registerBodies(app)
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
