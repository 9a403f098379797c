import type { FastifyInstance } from 'fastify'
import type { Health, ServerParts } from './parts.ts'

/** `GET /healthz` and `/readyz`. */
export function registerProbes(app: FastifyInstance, parts: Pick<ServerParts, 'health' | 'ready'>): void {
  for (const [path, check] of [
    ['/healthz', () => parts.health()],
    ['/readyz', () => parts.ready()],
  ] as const) {
    app.get(path, (_request, reply) => {
      const { ok, detail } = outcomeOf(check)
      return reply.code(ok ? 200 : 503).send({ ok, detail })
    })
  }
}

/** A check that throws is a check that failed. */
function outcomeOf(check: () => Health): Health {
  try {
    return check()
  } catch {
    return { ok: false, detail: 'the check itself failed' }
  }
}

/** `GET /metrics`, for Prometheus. */
export function registerMetrics(app: FastifyInstance, { metrics }: ServerParts): void {
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.render()
    return reply.header('content-type', contentType).send(text)
  })
}
