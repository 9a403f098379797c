import type { FastifyInstance } from 'fastify'
import { RESOURCE_KINDS } from '../kinds/key.ts'
import { STATUSES } from '../plan/condition.ts'
import type { ResourceStatus } from '../reconcile/status.ts'
import { overviewOf } from './overview.ts'
import type { ServerParts } from './parts.ts'
import { knownKey, oneOf, wholeOf, wordsOf, type Query } from './query.ts'
import { countStatuses, isWell } from './verdict.ts'

const SORTS = ['key', 'status'] as const

/** A resource in a list: without the two bodies, which are most of it. */
export type ResourceSummary = Omit<ResourceStatus, 'desired' | 'observed'>

/** `GET /api/v1/resources` and `GET /api/v1/resources/{kind}/{name}`. */
export function registerResources(app: FastifyInstance, parts: ServerParts): void {
  app.get<{ Querystring: Query }>('/api/v1/resources', ({ query }) => {
    const all = parts.board.list()
    const matching = sorted(filtered(all, query), query)
    const offset = wholeOf(query, 'offset', { least: 0, most: 10_000_000, absent: 0 })
    const limit = wholeOf(query, 'limit', { least: 0, most: 10_000_000, absent: matching.length })
    return {
      items: matching.slice(offset, offset + limit).map(summaryOf),
      /** How many match; `items` may be a part of them. */
      total: matching.length,
      /** Of all resources, whatever was asked for. */
      counts: countStatuses(all),
      overview: overviewOf(parts),
    }
  })
  app.get<{ Params: { kind: string; name: string } }>('/api/v1/resources/:kind/:name', ({ params }) =>
    parts.board.get(knownKey(`${params.kind}/${params.name}`, parts.board)),
  )
}

/** `kind` and `status`: one or a comma list. `well=false`: what somebody has to look at. `q`: a text anywhere in what people read. */
function filtered(all: readonly ResourceStatus[], query: Query): readonly ResourceStatus[] {
  const kinds = wordsOf(query, 'kind', RESOURCE_KINDS)
  const statuses = wordsOf(query, 'status', STATUSES)
  const well = wordsOf(query, 'well', ['true', 'false'])
  const text = oneOf(query, 'q')?.toLowerCase()
  return all.filter(
    (resource) =>
      (kinds?.has(resource.kind) ?? true) &&
      (statuses?.has(resource.status) ?? true) &&
      (well?.has(isWell(resource) ? 'true' : 'false') ?? true) &&
      (text === undefined || searchText(resource).includes(text)),
  )
}

function searchText(resource: ResourceStatus): string {
  const { key, status, reason, message, file, service, pipeId, state, labels } = resource
  const words = [key, status, reason, message, file, service, pipeId, state]
  return [...words, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)]
    .join('\n')
    .toLowerCase()
}

/** `sort=status`: worst first, then in the order of their keys. */
function sorted(resources: readonly ResourceStatus[], query: Query): readonly ResourceStatus[] {
  if (!wordsOf(query, 'sort', SORTS)?.has('status')) return resources
  return resources.toSorted((a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status))
}

function summaryOf(resource: ResourceStatus): ResourceSummary {
  const { desired: _desired, observed: _observed, ...summary } = resource
  return summary
}
