import type { FastifyInstance } from 'fastify'
import { Problem } from './problem.ts'

/** Every error is JSON: `{error, hint}`. What went wrong inside is not told outside. */
export function registerErrors(app: FastifyInstance): void {
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send({
      error: `there is nothing at ${request.method} ${request.url.split('?')[0]}`,
      hint: 'GET / is the page for people; /api/v1/resources, /api/v1/history, /api/v1/overview and /metrics are for machines.',
    }),
  )
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof Problem) {
      if (error.statusCode === 401) reply.header('www-authenticate', 'Bearer realm="pipewright"')
      return reply.code(error.statusCode).send({ error: error.message, hint: error.hint, ...error.facts })
    }
    const status = clientStatus(error)
    return status === undefined
      ? reply.code(500).send({
          error: 'this could not be answered',
          hint: 'It is a fault of Pipewright or of its ledger; /readyz may say more.',
        })
      : reply.code(status).send({
          error: error instanceof Error ? error.message : 'the request is not understood',
          hint: 'Check the method, the headers and the body of the request.',
        })
  })
}

/** Errors of fastify about a request carry a status from 400 to 499; all others are ours. */
function clientStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  const { statusCode } = error
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : undefined
}
