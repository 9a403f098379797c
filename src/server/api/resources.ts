import type { FastifyInstance } from 'fastify'
import { stringify } from 'yaml'
import type { BudgetUse, ManifestFacts, ServerParts } from '../parts.ts'
import { createOnceKindOf, type Profile } from '../../kinds/profile.ts'
import { asService } from '../../kinds/service/kind.ts'
import { lifecycleOfView, type ResourceView } from '../../contract/view.ts'
import { asListed, causeOfView, nextSteps, withBodies, type ShownResource } from '../shown-resource.ts'
import {
  shownView,
  LIMITS,
  nextPage,
  singleOf,
  type Paged,
  partOf,
  pickedOf,
  type Query,
} from '../parameters.ts'
import { RequestError } from '../replies.ts'
import type { OverviewReply } from './overview.ts'
import { filtered, NARROWING, narrowingOf, sorted, type Sorting, sortingOf } from './selection.ts'
import { MISSED } from '../../plan/reasons/not-found.ts'
import { comparisonOf, sideBySide } from './side-by-side.ts'

export interface ResourcesReply extends Paged<ShownResource> {
  readonly counts: OverviewReply['counts']
  readonly overview: OverviewReply
}

export type ResourceReply = ReturnType<typeof detailsOf>

const PARAMETERS = [...NARROWING, 'sort', 'order', 'after', 'offset', 'limit'] as const

function isByKey({ sort, down }: Sorting): boolean {
  return sort === 'key' && !down
}

export function listReply(parts: ServerParts, given: Query): Paged<ShownResource> {
  const query = pickedOf(given, PARAMETERS)
  const sorting = sortingOf(query)
  const after = singleOf(query, 'after')
  if (after !== undefined && !isByKey(sorting))
    throw new RequestError(
      400,
      'the parameter "after" needs ascending order by key',
      'Leave out sort and order, or use offset instead of after.',
    )
  const part = partOf(query, { least: 0, absent: LIMITS.page })
  const all = sorted(filtered(parts.board.list(), narrowingOf(query)), sorting)
  const behind = after === undefined ? 0 : all.findIndex(({ key }) => key > after)
  const start = (behind === -1 ? all.length : behind) + part.offset
  const page = all.slice(start, start + part.limit)
  const items = page.map((one) => asListed(one, parts.problem(one.key), parts.commands))
  const last = page.at(-1)
  const next =
    last === undefined || start + page.length >= all.length
      ? undefined
      : isByKey(sorting)
        ? nextPage(query, { after: last.key, offset: undefined })
        : nextPage(query, { offset: String(start + page.length) })
  return { items, total: all.length, next }
}

export function registerResources(
  app: FastifyInstance,
  parts: ServerParts,
  overviewOf: () => OverviewReply,
): void {
  app.get<{ Querystring: Query }>('/api/v1/resources', ({ query }): ResourcesReply => {
    const page = listReply(parts, query)
    const overview = overviewOf()
    return { ...page, counts: overview.counts, overview }
  })
  app.get<{ Params: { kind: string; name: string } }>('/api/v1/resources/:kind/:name', ({ params }) =>
    detailsOf(parts, `${params.kind}/${params.name}`),
  )
  app.get<{ Params: { kind: string; name: string } }>(
    '/api/v1/resources/:kind/:name/manifest',
    ({ params }, reply) => {
      const { key } = shownView(`${params.kind}/${params.name}`, parts.board)
      const facts = parts.manifest(key)
      if (facts === undefined) {
        throw new RequestError(
          404,
          `there is no valid manifest of ${key}`,
          'The daemon has read no such manifest since it started. For errors, see /api/v1/findings.',
        )
      }
      return reply
        .header('content-type', 'text/plain; charset=utf-8')
        .send(stringify(facts.document, { aliasDuplicateObjects: false }))
    },
  )
}

export function detailsOf(parts: ServerParts, text: string) {
  const resource = shownView(text, parts.board)
  const overview = parts.overview()
  const findings = overview.findings.filter(({ key }) => key === resource.key)
  const desired = parts.desired(resource.key)
  const manifest = parts.manifest(resource.key)
  return {
    ...withBodies(resource, desired, parts.commands),
    revision: overview.revision?.id,
    cause: causeOfView(resource),
    next: nextSteps(resource, parts.commands, findings),
    fields: sideBySide(parts.profile, resource, desired),
    comparison: comparisonOf(resource, desired, overview.startedAt),
    /** Since the daemon started, oldest first. */
    states: parts.recentEvents.states(resource.key),
    findings,
    manifest,
    sending: manifest?.request && sendingOf(resource, canChange(parts.profile, resource)),
    /** Request budget of a Service's credentials. Undefined: not used yet, or another kind. */
    budget: budgetOf(manifest, overview.budgets),
    now: overview.now,
  }
}

function canChange(profile: Profile, resource: ResourceView): boolean {
  if (lifecycleOfView(resource) !== 'create-once') return false
  return createOnceKindOf(profile, resource.key).changes !== undefined
}

function budgetOf(manifest: ManifestFacts | undefined, budgets: readonly BudgetUse[]): BudgetUse | undefined {
  const { document } = manifest ?? {}
  const { kind } = document ?? {}
  if (typeof kind !== 'string') return undefined
  const service = asService({ ...document, kind })
  const name = service?.spec.credentials.secretRef.name
  return budgets.find(({ credential }) => credential === name)
}

/**
 * Requests of Pipewright. `create`: a create, but no later edits. `create-first`: a create, then edits.
 * `created`: nothing more. `changed`: only edits. `apply`: the manifest at each change and interval. `held`: nothing.
 */
export type Sending = 'create' | 'create-first' | 'apply' | 'held' | 'created' | 'changed'

/** @param isChangeable whether the platform can update the resource */
export function sendingOf(resource: ResourceView, isChangeable: boolean): Sending {
  const { action, pipeId } = resource
  if (lifecycleOfView(resource) !== 'create-once')
    return action === 'hold' || action === 'refuse' ? 'held' : 'apply'
  if (pipeId !== undefined && !isToBeReplaced(resource)) return isChangeable ? 'changed' : 'created'
  if (action !== 'create') return 'held'
  return isChangeable ? 'create-first' : 'create'
}

/** Whether a pipe that already had an id will be created again, even if that is blocked now. */
function isToBeReplaced({ action, reason, conditions }: ResourceView): boolean {
  if (action === 'create') return conditions.Synced.status !== 'True'
  return Object.hasOwn(MISSED, reason) || (action === 'refuse' && reason !== 'AdoptRefused')
}
