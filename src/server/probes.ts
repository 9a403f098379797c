import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Health, ServerParts } from './parts.ts'

/** `GET /metrics`, `/healthz` and `/readyz`. */
export function registerProbes(app: FastifyInstance, parts: ServerParts): void {
  app.get('/metrics', async (_request, reply) => {
    const text = await parts.metrics.render()
    return reply.header('content-type', parts.metrics.contentType).send(text)
  })
  app.get('/healthz', (_request, reply) => answer(reply, () => parts.health()))
  app.get('/readyz', (_request, reply) => answer(reply, () => parts.ready()))
}

function answer(reply: FastifyReply, check: () => Health): FastifyReply {
  const { ok, detail } = outcomeOf(check)
  return reply.code(ok ? 200 : 503).send({ ok, detail })
}

/** A check that throws is a check that failed. */
function outcomeOf(check: () => Health): Health {
  try {
    return check()
  } catch {
    return { ok: false, detail: 'the check itself failed' }
  }
}
