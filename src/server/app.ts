import { fastify, type FastifyInstance } from 'fastify'
import { registerApi } from './api/routes.ts'
import { registerMetrics, registerProbes } from './monitoring.ts'
import { registerPage } from './page-files.ts'
import { registerBodies } from './parameters.ts'
import type { ServerParts } from './parts.ts'
import { registerReplies } from './replies.ts'

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
