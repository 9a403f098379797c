import type { FastifyInstance } from 'fastify'
import type { ServerParts } from './parts.ts'

/** `GET /metrics`, for Prometheus. */
export function registerMetrics(app: FastifyInstance, { metrics }: ServerParts): void {
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.render()
    return reply.header('content-type', contentType).send(text)
  })
}
