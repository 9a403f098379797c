import type { WholeFacts } from '../contract/activity.ts'
import type { HistoryEntry } from '../contract/history.ts'
import type { Key } from '../kinds/key.ts'
import type { OverviewReply } from '../server/api/overview.ts'
import type { NextStep } from '../server/remedy.ts'
import type { Io } from './io.ts'
import { type StatusReading, viewOfStatus } from './resource-view.ts'
import { getReply, type ServerCall } from './server-client.ts'
import { notAccepted } from './whole-facts.ts'

/* What a running daemon says of its resources and of what was done, for the commands that otherwise read a ledger. */

type Asked = Pick<ServerCall, 'command' | 'server'>

/** @throws {NoAnswerError | CommandError} */
export async function readServerStatus(io: Io, asked: Asked): Promise<StatusReading> {
  const { items, overview } = await getReply(io, asked, { path: 'api/v1/resources' })
  const { startedAt, now, revision, sandbox, ledger, manifests, baseUrl } = overview
  const last = { command: 'run', startedAt, seenAt: now, url: asked.server, revision: revision?.id } as const
  return {
    now,
    daemon: { state: 'running', last },
    whole: wholeOf(overview),
    here: { sandbox, ledger, manifests, baseUrl },
    resources: items.map(viewOfStatus),
  }
}

/** What a daemon says of the whole. */
export function wholeOf({ sourceProblem, findingCounts, overdue, ready }: OverviewReply): WholeFacts {
  const notReady = ready.ok ? undefined : `The daemon is not ready: ${ready.detail}.`
  return {
    problem: sourceProblem === undefined ? notReady : notAccepted(sourceProblem),
    errors: findingCounts.error,
    overdue,
  }
}

/** What to do about one resource, with the lines of its manifest as the daemon read it. @throws {NoAnswerError | CommandError} */
export async function readServerSteps(io: Io, asked: Asked, key: string): Promise<readonly NextStep[]> {
  const { next } = await getReply(io, asked, { path: `api/v1/resources/${key as Key}` }) // it is shown there
  return next
}

/** Newest first. @throws {NoAnswerError | CommandError} */
export async function readServerHistory(
  io: Io,
  asked: Asked,
  { key, limit }: { readonly key: Key | undefined; readonly limit: number },
): Promise<readonly HistoryEntry[]> {
  const query = new URLSearchParams({
    limit: String(Math.min(limit, MOST_LINES)),
    ...(key === undefined ? {} : { key }),
  })
  const { items } = await getReply(io, asked, { path: 'api/v1/history', query: `?${query.toString()}` })
  return items
}

/** A ledger keeps no more. */
const MOST_LINES = 10_000
