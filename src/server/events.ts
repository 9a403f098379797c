import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { createEventHub } from './event-hub.ts'
import { HEADERS } from './headers.ts'
import type { ServerParts } from './parts.ts'
import { Problem } from './problem.ts'

/** `GET /api/v1/events`: server-sent events `resources`, `source`, `history` and `alive`, until the server closes. */
export function registerEvents(app: FastifyInstance, parts: ServerParts): void {
  const hub = createEventHub(parts.clock, randomUUID().slice(0, 8))
  const unsubscribe = parts.subscribe((change) => hub.tell(change))
  app.addHook('preClose', async () => {
    unsubscribe()
    hub.close()
  })
  app.get('/api/v1/events', { exposeHeadRoute: false }, (request, reply) => {
    if (hub.full)
      throw new Problem(503, 'too many clients listen already', 'Try again later, or poll /api/v1/overview.')
    const lastEventId = request.headers['last-event-id']
    reply.hijack()
    reply.raw.writeHead(200, {
      ...HEADERS,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no', // nginx would hold events back
    })
    hub.add(reply.raw, typeof lastEventId === 'string' ? lastEventId : undefined)
  })
}
