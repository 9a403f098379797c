import type { Settings } from '../config/settings.ts'
import { runStateOf, type Activity, type RunState, type DaemonSummary } from '../contract/activity.ts'
import type { HistoryEntry } from '../contract/history.ts'
import type { HistoryQuery, Ledger } from '../contract/ledger.ts'
import { rememberedConditions, viewOf, type ResourceView } from '../contract/view.ts'
import type { Key } from '../kinds/key.ts'
import type { Clock } from '../lib/clock.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { sentence } from '../plan/reasons/row.ts'
import { createProblemTracker } from '../reconcile/state/problem-tracker.ts'
import { createBoard } from '../reconcile/state/status-board.ts'
import type { OverviewReply } from '../server/api/overview.ts'
import type { ResourceReply, ResourcesReply } from '../server/api/resources.ts'
import type { HistoryReply } from '../server/api/timeline.ts'
import { LIMITS } from '../server/parameters.ts'
import { nextSteps, asListed, causeOfView, type ShownResource } from '../server/shown-resource.ts'
import type { StepContext } from '../plan/step.ts'
import { stepContext } from './command-context.ts'
import { networkToOthers } from './compose-network.ts'
import { openLedgerToRead, sayMoved } from './compose.ts'
import { type Io, nobody } from './io.ts'
import { daemonUrl, getReply, NoAnswerError, type ServerAddress } from './server-client.ts'
import { notAccepted } from './daemon-summary.ts'

export interface StatusReading {
  /** ms since the epoch. */
  readonly now: number
  /** The process that uses the ledger, or used it last. */
  readonly daemon: {
    readonly state: RunState
    readonly last: (Omit<Activity, 'process' | 'host'> & Partial<Activity>) | undefined
  }
  readonly whole: DaemonSummary
  readonly resources: readonly ShownResource[]
  /** False: times of checks are unknown, because a daemon writes them only at its end. */
  readonly isCheckKnown?: boolean | undefined
}

/** Reads replies from a server's API, or makes equal replies from the ledger. */
interface Reader extends AsyncDisposable {
  status(): Promise<StatusReading>
  details(key: Key): Promise<Pick<ResourceReply, 'cause' | 'next'>>
  /** Newest first. */
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
}

export async function openReader(
  io: Io,
  settings: Settings,
  { command, isAgain = false }: { readonly command: string; readonly isAgain?: boolean },
): Promise<Reader> {
  const { server } = settings
  if (server !== undefined) {
    const asked = { command, server, network: networkToOthers(settings) }
    return {
      status: () => readServerStatus(io, asked),
      details: (key) => getReply(io, asked, { path: `api/v1/resources/${key}` }),
      history: (query) => readServerHistory(io, asked, query),
      [Symbol.asyncDispose]: async () => undefined,
    }
  }
  const ledger = await openLedgerToRead(settings, io.clock)
  if (!isAgain) sayMoved(io, ledger, settings)
  const url = await daemonUrl(ledger)
  const asked = url === undefined ? undefined : { command, server: url, network: networkToOthers(settings) }
  const context = stepContext(settings)
  return {
    async status() {
      const { last } = await ledger.activity()
      const live = asked && (await readServerStatus(io, asked).catch(ofNoAnswer))
      const read = live ?? (await readLedgerStatus(ledger, context, io.clock))
      if (asked === undefined) return read
      const state = live === undefined ? 'silent' : 'running'
      return { ...read, daemon: { state, last: last ?? read.daemon.last } }
    },
    details: async (key) => detailsOf(await ledger.get(key), context),
    history: (query) => ledger.history(query),
    [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
  }
}

function ofNoAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswerError)) throw error
}

export async function readLedgerStatus(
  ledger: Ledger,
  context: StepContext,
  clock: Clock,
): Promise<StatusReading> {
  const now = clock.now()
  const { last, checkedAt } = await ledger.activity()
  const state = runStateOf(last, await ledger.owned())
  const views = (await ledger.list()).map((record) => recordedView(record, checkedAt?.get(record.key)))
  return {
    now,
    whole: { ...last, ...(ledger.rollback !== undefined && { problem: sentence(ledger.rollback) }) },
    daemon: { state, last },
    resources: withProblems(views, clock, context),
    isCheckKnown: checkedAt !== undefined && (state === 'stopped' || state === 'never'),
  }
}

function recordedView(record: LedgerRecord, checkedAt?: number): ResourceView {
  return viewOf({ record, conditions: rememberedConditions(record, 0), checkedAt })
}

function detailsOf(record: LedgerRecord | undefined, context: StepContext) {
  if (record === undefined) return { cause: '', next: [] }
  const view = recordedView(record)
  return { cause: causeOfView(view), next: nextSteps(view, context, []) }
}

export function withProblems(
  views: readonly ResourceView[],
  clock: Clock,
  context: StepContext,
): readonly ShownResource[] {
  const board = createBoard()
  for (const view of views) board.set(view)
  const problems = createProblemTracker({ clock, emit: nobody }, board)
  return board.list().map((view) => asListed(view, problems.of(view.key), context))
}

async function readServerStatus(io: Io, asked: ServerAddress): Promise<StatusReading> {
  const { items, overview } = await readServerResources(io, asked)
  const { startedAt, now, revision } = overview
  const last = { command: 'run', startedAt, url: asked.server, revision: revision?.id } as const
  return { now, daemon: { state: 'running', last }, whole: wholeOf(overview), resources: items }
}

export async function readServerResources(
  io: Io,
  asked: ServerAddress,
): Promise<Pick<ResourcesReply, 'items' | 'overview'>> {
  const items: ShownResource[] = []
  for (let query: string | undefined = ''; ;) {
    const page: ResourcesReply = await getReply(io, asked, { path: 'api/v1/resources', query })
    items.push(...page.items)
    query = nextQuery(page, items.length)
    if (query === undefined) return { items, overview: page.overview }
  }
}

function nextQuery(
  { items, next }: { readonly items: readonly unknown[]; readonly next?: string | undefined },
  count: number,
): string | undefined {
  return items.length === 0 || count >= MOST_ITEMS ? undefined : next
}

/** Ends the reading if a server always has a next page. */
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
  counts,
}: OverviewReply): DaemonSummary {
  const notReady = ready.ok ? undefined : `The daemon is not ready: ${ready.detail}.`
  const ofSource =
    sourceProblem === undefined ? notReady : notAccepted(sourceProblem, Object.values(counts).some(Boolean))
  return {
    problem: ledgerRollback === undefined ? ofSource : sentence(ledgerRollback),
    errors: findingCounts.error,
    overdue,
    withoutLock,
    withoutManifest,
    revisionSince,
  }
}

async function readServerHistory(
  io: Io,
  asked: ServerAddress,
  { key, limit }: HistoryQuery,
): Promise<readonly HistoryEntry[]> {
  const first = new URLSearchParams({
    limit: String(Math.min(limit, LIMITS.page)),
    ...(key === undefined ? {} : { key }),
  })
  // New entries move older entries to a later page, so an entry can come twice.
  const entries = new Map<string, HistoryEntry>()
  for (let query: string | undefined = `?${first.toString()}`; query !== undefined;) {
    const page: HistoryReply = await getReply(io, asked, { path: 'api/v1/history', query })
    for (const entry of page.items) entries.set(JSON.stringify(entry), entry)
    query = entries.size >= limit ? undefined : nextQuery(page, entries.size)
  }
  return [...entries.values()].slice(0, limit)
}
