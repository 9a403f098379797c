import type { WholeFacts } from '../contract/activity.ts'
import type { HistoryEntry } from '../contract/history.ts'
import type { Key } from '../kinds/key.ts'
import type { OverviewReply } from '../server/api/overview.ts'
import type { ResourcesReply, ResourceSummary } from '../server/api/resources.ts'
import type { HistoryReply } from '../server/api/timeline.ts'
import { LIMITS } from '../server/parameters.ts'
import type { NextStep } from '../server/remedy.ts'
import type { Io } from './io.ts'
import { type StatusReading, viewOfStatus } from './resource-view.ts'
import { type Asked, getReply } from './server-client.ts'
import { sentence } from '../plan/reasons/row.ts'
import { notAccepted } from './whole-facts.ts'

/** @throws {NoAnswerError | CommandError} */
export async function readServerStatus(io: Io, asked: Asked): Promise<StatusReading> {
  const { items, overview } = await readServerResources(io, asked)
  const { startedAt, now, revision, sandbox, ledger, profile, manifests, baseUrl } = overview
  const last = { command: 'run', startedAt, seenAt: now, url: asked.server, revision: revision?.id } as const
  return {
    now,
    daemon: { state: 'running', last },
    whole: wholeOf(overview),
    here: { sandbox, ledger, profile, manifests, baseUrl },
    resources: items.map(viewOfStatus),
  }
}

/** Each page starts after the last key of the page before. @throws {NoAnswerError | CommandError} */
export async function readServerResources(
  io: Io,
  asked: Asked,
): Promise<Pick<ResourcesReply, 'items' | 'overview'>> {
  const items: ResourceSummary[] = []
  for (let query: string | undefined = ''; ;) {
    const page: ResourcesReply = await getReply(io, asked, { path: 'api/v1/resources', query })
    items.push(...page.items)
    query = nextQuery(page, items.length)
    if (query === undefined) return { items, overview: page.overview }
  }
}

/** Undefined: the last page, or too many. */
function nextQuery(
  { items, next }: { readonly items: readonly unknown[]; readonly next?: string | undefined },
  count: number,
): string | undefined {
  return items.length === 0 || count >= MOST_ITEMS ? undefined : next
}

/** Stops a server with endless pages. */
const MOST_ITEMS = 1_000_000

export function wholeOf({
  sourceProblem,
  ledgerRollback,
  findingCounts,
  overdue,
  withoutLock,
  withoutManifest,
  ready,
  revisionSince,
}: OverviewReply): WholeFacts {
  const notReady = ready.ok ? undefined : `The daemon is not ready: ${ready.detail}.`
  const ofSource = sourceProblem === undefined ? notReady : notAccepted(sourceProblem)
  return {
    problem: ledgerRollback === undefined ? ofSource : sentence(ledgerRollback),
    errors: findingCounts.error,
    overdue,
    withoutLock,
    withoutManifest,
    revisionSince,
  }
}

/** With the manifest's lines. @throws {NoAnswerError | CommandError} */
export async function readServerSteps(io: Io, asked: Asked, key: string): Promise<readonly NextStep[]> {
  const { next } = await getReply(io, asked, { path: `api/v1/resources/${key as Key}` }) // a listed key
  return next
}

/** Newest first. @throws {NoAnswerError | CommandError} */
export async function readServerHistory(
  io: Io,
  asked: Asked,
  { key, limit }: { readonly key: Key | undefined; readonly limit: number },
): Promise<readonly HistoryEntry[]> {
  const first = new URLSearchParams({
    limit: String(Math.min(limit, LIMITS.page)),
    ...(key === undefined ? {} : { key }),
  })
  // New entries move older ones to a later page: drop repeats.
  const entries = new Map<string, HistoryEntry>()
  for (let query: string | undefined = `?${first.toString()}`; query !== undefined;) {
    const page: HistoryReply = await getReply(io, asked, { path: 'api/v1/history', query })
    for (const entry of page.items) entries.set(JSON.stringify(entry), entry)
    query = entries.size >= limit ? undefined : nextQuery(page, entries.size)
  }
  return [...entries.values()].slice(0, limit)
}
