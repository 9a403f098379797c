import type { Server as HttpServer } from 'node:http'
import { fastify, type FastifyInstance } from 'fastify'
import { registerApi } from './api/routes.ts'
import { registerMetrics } from './monitoring.ts'
import { registerPage } from './page-files.ts'
import { registerBodies } from './parameters.ts'
import type { ServerParts } from './parts.ts'
import { registerReplies } from './replies.ts'

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
  registerReplies(app)
  registerBodies(app)
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
