import { setImmediate, setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

const MAX_REST_MS = 100

/**
 * Starts one API request at a time. The process then has as long for its other work as the request took.
 * Probes and metrics take no turns.
 */
export function registerTurns(app: FastifyInstance): void {
  let next: Promise<void> = Promise.resolve()
  app.addHook('preHandler', async ({ socket }, reply) => {
    const turn = next
    next = turn.then(() => (socket.destroyed ? undefined : rest()))
    await turn
    if (socket.destroyed) reply.hijack()
  })
}

/** Takes as long as the work that its caller starts now, twice. */
async function rest(): Promise<void> {
  const startedAt = performance.now()
  await setImmediate()
  const tookMs = performance.now() - startedAt
  if (tookMs >= 1) await setTimeout(Math.min(tookMs, MAX_REST_MS))
}
