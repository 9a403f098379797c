import type { FastifyInstance } from 'fastify'
import { withBodies, type ResourceStatus } from '../reconcile/status.ts'
import { causeOf } from './cause.ts'
import { nextSteps } from './next-step.ts'
import { overviewOf } from './overview.ts'
import type { ServerParts } from './parts.ts'
import { knownKey, wholeOf, type Query } from './query.ts'
import { selected } from './selection.ts'
import { sideBySide } from './side-by-side.ts'
import { sinceOf } from './since.ts'

/** A resource in a list: without the two bodies, which are most of it. */
export type ResourceSummary = Omit<ResourceStatus, 'desired' | 'observed'> & {
  /** Since when it has its status: ms since the epoch. */
  readonly since: number
}

/** `GET /api/v1/resources` and `GET /api/v1/resources/{kind}/{name}`. */
export function registerResources(app: FastifyInstance, parts: ServerParts): void {
  app.get<{ Querystring: Query }>('/api/v1/resources', ({ query }) => {
    const matching = selected(parts.board.list(), query)
    const offset = wholeOf(query, 'offset', { least: 0, most: 10_000_000, absent: 0 })
    const limit = wholeOf(query, 'limit', { least: 0, most: 10_000_000, absent: matching.length })
    const overview = overviewOf(parts)
    return {
      items: matching.slice(offset, offset + limit).map(summaryOf),
      /** How many match; `items` may be a part of them. */
      total: matching.length,
      /** Of all resources, whatever was asked for. */
      counts: overview.counts,
      overview,
    }
  })
  app.get<{ Params: { kind: string; name: string } }>('/api/v1/resources/:kind/:name', ({ params }) => {
    const key = knownKey(`${params.kind}/${params.name}`, parts.board)
    const resource = parts.board.get(key)
    return resource === undefined ? undefined : detailsOf(resource, parts)
  })
}

/** All that is known of one resource. */
function detailsOf(resource: ResourceStatus, parts: ServerParts) {
  const overview = parts.overview()
  const findings = overview.findings.filter(({ key }) => key === resource.key)
  return {
    ...withBodies(resource),
    since: sinceOf(resource),
    /** The message without what to do about it. */
    cause: causeOf(resource),
    next: nextSteps(resource, overview, findings),
    /** Both bodies field by field, what differs first. */
    fields: sideBySide(resource),
    /** States that the platform reported since the daemon started, oldest first. */
    states: parts.chronicle.states(resource.key),
    findings,
    now: overview.now,
  }
}

function summaryOf(resource: ResourceStatus): ResourceSummary {
  const { desired: _desired, observed: _observed, ...facts } = resource
  return { ...facts, since: sinceOf(resource) }
}
