import type { FastifyInstance } from 'fastify'
import { RequestError } from './replies.ts'
import { registerAttention, type AttentionReply } from './problems.ts'
import type { ServerParts, Health, ReconcileProgress, Scrape } from './parts.ts'
import { registerAllow, type AllowedReply } from './api/allow-requests.ts'
import { registerEvents } from './api/event-stream.ts'
import { createAnswers } from './api/answers.ts'
import { registerTurns } from './request-turns.ts'
import { registerFacets, type FacetsReply } from './api/facets.ts'
import { registerFindings, type FindingsReply } from './api/findings.ts'
import { createOverview, registerOverview, type OverviewReply } from './api/overview.ts'
import { registerPlan } from './api/plan-requests.ts'
import { registerReconcile, type AcceptedReply } from './api/reconcile-requests.ts'
import { createHistoryReader } from './api/history-reader.ts'
import { registerResources, type ResourceReply, type ResourcesReply } from './api/resources.ts'
import { registerHistory, registerTimeline, type HistoryReply, type TimelineReply } from './api/timeline.ts'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'

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
  readonly [progress: `api/v1/reconciles/${string}`]: ReconcileProgress
}

/** What is answered to a POST. */
export interface Orders {
  readonly '-/reconcile': AcceptedReply
  readonly '-/allow': AllowedReply
}

/** `/api/v1/…` and `/-/reconcile`. */
export function registerApi(app: FastifyInstance, parts: ServerParts): void {
  registerTurns(app)
  const answers = createAnswers(parts)
  const overviewOf = createOverview(parts)
  const reader = createHistoryReader(parts)
  app.addHook('preClose', async () => reader.close())
  registerResources(app, parts, { answers, overviewOf })
  registerOverview(app, overviewOf)
  registerAttention(app, parts, answers)
  registerFindings(app, parts, answers)
  registerFacets(app, parts, answers)
  registerHistory(app, parts, reader)
  registerTimeline(app, parts, { answers, reader })
  registerReconcile(app, parts)
  registerPlan(app, parts)
  registerAllow(app, parts)
  registerEvents(app, parts)
}

/** `GET /healthz` and `/readyz`. */
export function registerProbes(app: FastifyInstance, parts: Pick<ServerParts, 'health' | 'ready'>): void {
  for (const [path, check] of [
    ['/healthz', () => parts.health()],
    ['/readyz', () => parts.ready()],
  ] as const) {
    app.get(path, (_request, reply) => {
      const { ok, detail } = outcomeOf(check)
      return reply.code(ok ? 200 : 503).send({ ok, detail })
    })
  }
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
  let rendering: Promise<Scrape> | undefined
  app.get('/metrics', async (_request, reply) => {
    // Those who ask meanwhile get the same.
    rendering ??= metrics.render().finally(() => (rendering = undefined))
    const { contentType, text } = await rendering
    return reply.header('content-type', contentType).send(text)
  })
}

/** `GET /metrics` of the page's listener, where metrics have one of their own. */
export function registerMetricsMoved(app: FastifyInstance): void {
  app.get('/metrics', () => {
    throw new RequestError(
      404,
      'the metrics are not served here',
      'They have a listener of their own: its address is the setting --metrics-listen (PIPEWRIGHT_METRICS_LISTEN).',
    )
  })
}

const FOLDER = new URL('page/', import.meta.url)

/** What a browser loads; nothing else of the folder, or of the disk, can be asked for. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
])

/** `GET /`: the page for people. Its files are read once, at start. */
export async function registerPage(app: FastifyInstance): Promise<void> {
  for (const file of await readdir(FOLDER)) {
    const type = TYPES.get(extname(file))
    if (type === undefined) continue
    const content = await readFile(new URL(file, FOLDER))
    app.get(file === 'index.html' ? '/' : `/${file}`, (_request, reply) =>
      reply.header('content-type', type).header('cache-control', 'no-cache').send(content),
    )
  }
}
