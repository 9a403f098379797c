import type { FastifyInstance } from 'fastify'
import { registerAttention, type AttentionReply } from '../problems.ts'
import type { ServerParts } from '../parts.ts'
import { registerEvents } from './event-stream.ts'
import { registerFacets, type FacetsReply } from './facets.ts'
import { registerFindings, registerOverview, type FindingsReply, type OverviewReply } from './overview.ts'
import { registerReconcile } from './reconcile-requests.ts'
import { registerResources, type ResourceReply, type ResourcesReply } from './resources.ts'
import { registerHistory, registerTimeline, type HistoryReply, type TimelineReply } from './timeline.ts'

/** What is answered where, in JSON: a member that is `undefined` is left out. The page's scripts are checked against it. */
export interface Replies {
  readonly 'api/v1/attention': AttentionReply
  readonly 'api/v1/facets': FacetsReply
  readonly 'api/v1/findings': FindingsReply
  readonly 'api/v1/history': HistoryReply
  readonly 'api/v1/overview': OverviewReply
  readonly 'api/v1/resources': ResourcesReply
  readonly [resource: `api/v1/resources/${string}/${string}`]: ResourceReply
  readonly 'api/v1/timeline': TimelineReply
}

/** `/api/v1/…` and `/-/reconcile`. */
export function registerApi(app: FastifyInstance, parts: ServerParts): void {
  registerResources(app, parts)
  registerOverview(app, parts)
  registerAttention(app, parts)
  registerFindings(app, parts)
  registerFacets(app, parts)
  registerHistory(app, parts)
  registerTimeline(app, parts)
  registerReconcile(app, parts)
  registerEvents(app, parts)
}
