import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { RequestError } from './replies.ts'
import { attentionReply } from './problems.ts'
import type { ServerParts, Health, ReconcileProgress, ReconcileReceipt } from './parts.ts'
import type { AllowedReply } from '../contract/person-command.ts'
import { registerAllow, registerOperate, registerPlan, registerReconcile } from './api/admin-requests.ts'
import { registerEvents } from './api/event-stream.ts'
import { findingsReply, createOverview, type OverviewReply } from './api/overview.ts'
import { pageReply, type PageReply } from './api/page.ts'
import { registerResources, type ResourceReply, type ResourcesReply } from './api/resources.ts'
import { historyReply, timelineReply, type HistoryReply } from './api/timeline.ts'
import type { Query } from './parameters.ts'
import { readdir, readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { extname } from 'node:path'

/** The reply of each path. The page's scripts are type-checked against this. */
export interface Replies {
  readonly 'api/v1/page': PageReply
  readonly 'api/v1/history': HistoryReply
  readonly 'api/v1/resources': ResourcesReply
  readonly [resource: `api/v1/resources/${string}/${string}`]: ResourceReply
  readonly [progress: `api/v1/reconciles/${string}`]: ReconcileProgress
}

export interface Orders {
  readonly '-/reconcile': ReconcileReceipt
  readonly '-/allow': AllowedReply
}

export function registerApi(app: FastifyInstance, parts: ServerParts): void {
  registerTurns(app, parts)
  const overviewOf = createOverview(parts)
  registerResources(app, parts, overviewOf)
  app.get('/api/v1/overview', (): OverviewReply => overviewOf())
  for (const [name, replyOf] of [
    ['attention', attentionReply],
    ['findings', findingsReply],
    ['timeline', timelineReply],
  ] as const) {
    app.get<{ Querystring: Query }>(`/api/v1/${name}`, async ({ query }) => replyOf(parts, query))
  }
  app.get<{ Querystring: Query }>('/api/v1/history', ({ query }) => historyReply(parts, query))
  app.get<{ Querystring: Query }>('/api/v1/page', async ({ query }) => pageReply(parts, overviewOf(), query))
  registerReconcile(app, parts)
  registerPlan(app, parts)
  registerAllow(app, parts)
  registerOperate(app, parts)
  registerEvents(app, parts)
}

const MAX_REST_MS = 100

/** Answers API requests one by one. After each request, other work gets the same time, up to {@link MAX_REST_MS}. */
function registerTurns(app: FastifyInstance, { clock }: Pick<ServerParts, 'clock'>): void {
  let next: Promise<void> = Promise.resolve()
  app.addHook('preHandler', async ({ socket }, reply) => {
    const turn = next
    next = turn.then(() => (socket.destroyed ? undefined : rest(clock)))
    await turn
    if (socket.destroyed) reply.hijack()
  })
}

/** Waits until this turn of the event loop ends, and then for as long as the turn took. */
async function rest(clock: Clock): Promise<void> {
  const startedAt = clock.monotonic()
  await setImmediate()
  const tookMs = clock.monotonic() - startedAt
  if (tookMs < 1) return
  await new Promise<void>((resolve) => void clock.after(Math.min(tookMs, MAX_REST_MS), resolve))
}

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

function outcomeOf(check: () => Health): Health {
  try {
    return check()
  } catch {
    return { ok: false, detail: 'the check itself failed' }
  }
}

export function registerMetrics(app: FastifyInstance, { metrics }: ServerParts): void {
  let rendering: ReturnType<ServerParts['metrics']['render']> | undefined
  app.get('/metrics', async (_request, reply) => {
    rendering ??= metrics.render().finally(() => (rendering = undefined))
    const { contentType, text } = await rendering
    return reply.header('content-type', contentType).send(text)
  })
}

export function registerMetricsMoved(app: FastifyInstance): void {
  app.get('/metrics', () => {
    throw new RequestError(
      404,
      'the metrics are not served here',
      'Use the address of the setting --metrics-listen (PIPEWRIGHT_METRICS_LISTEN).',
    )
  })
}

const FOLDER = new URL('page/', import.meta.url)

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
])

/** Packages that the page loads. The bundle has copies of them in the page's folder. */
const PACKAGES = {
  'preact.js': 'preact',
  'htm.js': 'htm',
  'simple.css': 'simpledotcss/simple.min.css',
} as const

export async function registerPage(app: FastifyInstance): Promise<void> {
  const files = (await readdir(FOLDER)).filter((file) => TYPES.has(extname(file)))
  const packages = Object.entries(PACKAGES).filter(([file]) => !files.includes(file))
  const served = new Map([
    ...files.map((file) => [file, new URL(file, FOLDER)] as const),
    ...packages.map(([file, name]) => [file, new URL(import.meta.resolve(name))] as const),
  ])
  // With these links, a browser loads all modules in parallel.
  const preloads = [...served.keys()]
    .filter((file) => file.endsWith('.js'))
    .map((file) => `<link rel="modulepreload" href="${file}" />`)
  for (const [file, url] of served)
    app.get(file === 'index.html' ? '/' : `/${file}`, async (_request, reply) => {
      const text = (await readFile(url, 'utf8'))
        .replace('</head>', `${preloads.join('')}</head>`)
        .replace(/(?<=^import .* from ')(?:preact|htm)(?=')/gm, './$&.js')
      return reply
        .header('content-type', TYPES.get(extname(file)))
        .header('cache-control', 'no-cache')
        .send(text)
    })
}
