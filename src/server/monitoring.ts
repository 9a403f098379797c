import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Health, ServerParts } from './parts.ts'
import { replyByNode } from './replies.ts'

/**
 * Answers `GET /healthz` and `/readyz`.
 * @returns whether it was one of them; if not, nothing was answered
 */
export function answerProbe(
  request: Pick<IncomingMessage, 'method' | 'url'>,
  response: ServerResponse,
  parts: Pick<ServerParts, 'health' | 'ready'>,
): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const check = checkAt(request.url?.split('?')[0], parts)
  if (check === undefined) return false
  const { ok, detail } = outcomeOf(check)
  replyByNode(response, ok ? 200 : 503, { ok, detail })
  return true
}

function checkAt(
  path: string | undefined,
  parts: Pick<ServerParts, 'health' | 'ready'>,
): (() => Health) | undefined {
  if (path === '/healthz') return () => parts.health()
  if (path === '/readyz') return () => parts.ready()
  return undefined
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
