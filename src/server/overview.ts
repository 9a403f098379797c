import type { FastifyInstance } from 'fastify'
import type { Health, Overview, ServerParts } from './parts.ts'
import { countStatuses, judge, type Verdict } from './verdict.ts'

export interface ShownOverview extends Overview {
  readonly verdict: Verdict
  readonly ready: Health
}

/** The whole at a glance. */
export function overviewOf(parts: ServerParts): ShownOverview {
  const overview = parts.overview()
  const ready = parts.ready()
  return { ...overview, ready, verdict: judge(countStatuses(parts.board.list()), overview, ready) }
}

/** `GET /api/v1/overview`. */
export function registerOverview(app: FastifyInstance, parts: ServerParts): void {
  app.get('/api/v1/overview', () => overviewOf(parts))
}
