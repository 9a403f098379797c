import type { FastifyInstance } from 'fastify'
import { stringify } from 'yaml'
import type { ManifestFacts } from '../../contract/manifest-facts.ts'
import type { Finding } from '../../kinds/finding.ts'
import { asService } from '../../kinds/service/kind.ts'
import { sinceOf, withBodies, type ResourceStatus } from '../../contract/status.ts'
import { resourceTyped } from '../command-line.ts'
import { causeWords } from '../problems.ts'
import { nextSteps, type NextStep } from '../remedy.ts'
import { knownKey, wholeOf, type Query } from '../parameters.ts'
import type { BudgetUse, ServerParts } from '../parts.ts'
import type { StateSpan } from '../recent-events.ts'
import { RequestError } from '../replies.ts'
import { type Counts, overviewOf, type OverviewReply } from './overview.ts'
import { selected } from './selection.ts'
import { sendingOf, type Sending } from './sending.ts'
import { comparisonOf, sideBySide, type ComparedField, type Comparison } from './side-by-side.ts'

/** A resource in a list: without the last reply, which is most of it. */
export type ResourceSummary = Omit<ResourceStatus, 'observed'> & {
  /** Since when it has its status: ms since the epoch. */
  readonly since: number
}

/** Of `GET /api/v1/resources`. */
export interface ResourcesReply {
  readonly items: readonly ResourceSummary[]
  /** How many match; `items` may be a part of them. */
  readonly total: number
  /** Of all resources, whatever was asked for. */
  readonly counts: Counts
  readonly overview: OverviewReply
}

/** Of `GET /api/v1/resources/{kind}/{name}`: all that is known of one resource. */
export interface ResourceReply extends ReturnType<typeof withBodies> {
  readonly since: number
  /** In force. */
  readonly revision: string | undefined
  /** The message without what to do about it. */
  readonly cause: string
  readonly next: readonly NextStep[]
  /** Both bodies field by field, what differs first. */
  readonly fields: readonly ComparedField[]
  readonly comparison: Comparison
  /** States that the platform reported since the daemon started, oldest first. */
  readonly states: readonly StateSpan[]
  readonly findings: readonly Finding[]
  /** What its manifest says and stands among; undefined when there is no valid one. */
  readonly manifest: ManifestFacts | undefined
  /** What becomes of the manifest's request; undefined when it has none. */
  readonly sending: Sending | undefined
  /** Of a Service: the request budget of its credentials, once it was used. */
  readonly budget: BudgetUse | undefined
  readonly now: number
}

/** `GET /api/v1/resources`, `…/{kind}/{name}`, and `…/{kind}/{name}/manifest`, which is YAML. */
export function registerResources(app: FastifyInstance, parts: ServerParts): void {
  app.get<{ Querystring: Query }>('/api/v1/resources', ({ query }): ResourcesReply => {
    const matching = selected(parts.board.list(), query)
    const offset = wholeOf(query, 'offset', { least: 0, most: 10_000_000, absent: 0 })
    const limit = wholeOf(query, 'limit', { least: 0, most: 10_000_000, absent: matching.length })
    const overview = overviewOf(parts)
    return {
      items: matching
        .slice(offset, offset + limit)
        .map((resource) => summaryOf(resourceTyped(resource, overview))),
      total: matching.length,
      counts: overview.counts,
      overview,
    }
  })
  app.get<{ Params: { kind: string; name: string } }>('/api/v1/resources/:kind/:name', ({ params }) => {
    const key = knownKey(`${params.kind}/${params.name}`, parts.board)
    const resource = parts.board.get(key)
    return resource === undefined ? undefined : detailsOf(resource, parts)
  })
  app.get<{ Params: { kind: string; name: string } }>(
    '/api/v1/resources/:kind/:name/manifest',
    ({ params }, reply) => {
      const key = knownKey(`${params.kind}/${params.name}`, parts.board)
      const facts = parts.manifest(key)
      if (facts === undefined) {
        throw new RequestError(
          404,
          `there is no valid manifest of ${key}`,
          'There was none since the daemon started. Its findings are in /api/v1/findings.',
        )
      }
      return reply
        .header('content-type', 'text/plain; charset=utf-8')
        .send(stringify(facts.document, { aliasDuplicateObjects: false }))
    },
  )
}

function detailsOf(resource: ResourceStatus, parts: ServerParts): ResourceReply {
  const overview = parts.overview()
  const findings = overview.findings.filter(({ key }) => key === resource.key)
  const desired = parts.desired(resource.key)
  const manifest = parts.manifest(resource.key)
  return {
    ...withBodies(resourceTyped(resource, overview), desired),
    since: sinceOf(resource),
    revision: overview.revision?.id,
    cause: causeWords(resource, overview),
    next: nextSteps(resource, { ...overview, placeEdit: parts.placeEdit }, findings),
    fields: sideBySide(resource, desired),
    comparison: comparisonOf(resource, desired, overview.startedAt),
    states: parts.recentEvents.states(resource.key),
    findings,
    manifest,
    sending: manifest?.request && sendingOf(resource),
    budget: budgetOf(manifest, overview.budgets),
    now: overview.now,
  }
}

/** Budgets are those of credentials, which a Service names. */
function budgetOf(manifest: ManifestFacts | undefined, budgets: readonly BudgetUse[]): BudgetUse | undefined {
  const { document } = manifest ?? {}
  const { kind } = document ?? {}
  if (typeof kind !== 'string') return undefined
  const service = asService({ ...document, kind })
  const name = service?.spec.credentials.secretRef.name
  return budgets.find(({ credential }) => credential === name)
}

function summaryOf(resource: ResourceStatus): ResourceSummary {
  const { observed: _, ...facts } = resource
  return { ...facts, since: sinceOf(resource) }
}
