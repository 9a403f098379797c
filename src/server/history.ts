import type { FastifyInstance } from 'fastify'
import type { ServerParts } from './parts.ts'
import { oneOf, wellFormedKey, wholeOf, type Query } from './query.ts'

/** `GET /api/v1/history`, newest first. */
export function registerHistory(app: FastifyInstance, parts: ServerParts): void {
  app.get<{ Querystring: Query }>('/api/v1/history', async ({ query }) => {
    const text = oneOf(query, 'key')
    const key = text === undefined ? undefined : wellFormedKey(text)
    const limit = wholeOf(query, 'limit', { least: 1, most: 1_000, absent: 100 })
    return { items: await parts.history({ key, limit }) }
  })
}
