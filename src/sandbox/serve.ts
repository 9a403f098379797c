import fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import { addControl, isControl } from './control-routes.ts'
import { createExchange, type ExchangeParts } from './exchange.ts'
import { OPERATIONS, ROUTES } from './operation.ts'
import type { SandboxControl } from './control.ts'

export interface ServeOptions {
  readonly host: string
  readonly port: number
  readonly control: SandboxControl
  readonly parts: Omit<ExchangeParts, 'closing'>
}

export interface Served extends AsyncDisposable {
  readonly url: string
}

/** Largest body taken, in bytes. */
const BODY_LIMIT = 4 * 2 ** 20

/** Listens, and hands each request to the exchange. @throws Error when it cannot listen */
export async function serve(options: ServeOptions): Promise<Served> {
  const { host, port, control, parts } = options
  const closing = new AbortController()
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    routerOptions: { caseSensitive: true },
  })
  // bodies are taken as texts: whether they are JSON is for the platform to say
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))

  const exchange = createExchange({ ...parts, closing: closing.signal })
  for (const operation of OPERATIONS) {
    server.route({
      ...ROUTES[operation],
      handler: (request, reply) => exchange.perform(operation, request, reply),
    })
  }
  addControl(server, control)
  server.setNotFoundHandler(async (request, reply) => {
    if (isControl(request)) return reply.code(404).send({ error: 'no such path' })
    exchange.refuse(request, reply, 404, 'no such path')
    return reply
  })
  server.setErrorHandler(async (error: FastifyError, request, reply) => {
    // 415 is how fastify says that a content type is none
    const status = error.statusCode === 415 ? 400 : (error.statusCode ?? 500)
    exchange.refuse(request, reply, status, error.message)
    return reply
  })

  const url = await listen(server, host, port)
  return {
    url,
    async [Symbol.asyncDispose]() {
      closing.abort()
      await server.close()
    },
  }
}

async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await server.listen({ host, port })
  } catch (error) {
    await server.close()
    throw error
  }
}
