import type { FastifyInstance } from 'fastify'
import { messageTyped } from '../command-line.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import { oneOf, wellFormedKey, wholeOf, wordsOf, type Query } from '../parameters.ts'
import type { ServerParts } from '../parts.ts'
import type { SourceEntry } from '../recent-events.ts'
import { hasAll, isNarrowed, keysSelected, searchWords } from './selection.ts'

const TYPES = ['revision', 'source', 'create-limit', 'action', 'condition'] as const

/** Read when only some types are wanted: they may stand far back. */
const DEEP = 1_000

/** A ledger keeps no more lines. */
const ALL_KEPT = 10_000

/** A revision that only the history knows of: an earlier process read it. */
export interface EarlierRevision {
  readonly type: 'revision'
  /** Of the first entry of history that came of it. */
  readonly at: number
  readonly revision: string
  readonly earlier: true
}

export type TimelineEntry = HistoryEntry | SourceEntry | EarlierRevision

/** Of `GET /api/v1/timeline`. */
export interface TimelineReply {
  readonly items: readonly TimelineEntry[]
  /** Whether there are older ones. */
  readonly more: boolean
}

/** Of `GET /api/v1/history`. */
export interface HistoryReply {
  readonly items: readonly HistoryEntry[]
}

/** `GET /api/v1/timeline`: history and readings as one story, newest first. `type`: one or a comma list; and what narrows a list of resources. */
export function registerTimeline(app: FastifyInstance, parts: ServerParts): void {
  app.get<{ Querystring: Query }>('/api/v1/timeline', async ({ query }): Promise<TimelineReply> => {
    const limit = wholeOf(query, 'limit', { least: 1, most: DEEP, absent: 100 })
    const types = wordsOf(query, 'type', TYPES)
    const isPart = isNarrowed(query)
    const read = types === undefined && !isPart ? limit : DEEP
    const isWanted = isPart ? entriesSelected(parts, query) : () => true
    const overview = parts.overview()
    const kept = await parts.history({ key: undefined, limit: read })
    const history = kept.map((entry) => messageTyped(entry, overview))
    const entries = timelineOf(history, parts.recentEvents.source(), { whole: history.length < read }).filter(
      (entry) => (types?.has(entry.type) ?? true) && isWanted(entry),
    )
    return { items: entries.slice(0, limit), more: entries.length > limit || history.length === read }
  })
}

/** What is about a resource that is asked for, or about a commit that changed one. */
function entriesSelected({ board }: ServerParts, query: Query): (entry: TimelineEntry) => boolean {
  const isKey = keysSelected(board.list(), query)
  const words = searchWords(query)
  return (entry) => {
    if ('key' in entry) return isKey(entry.key)
    if (entry.type !== 'revision') return false
    const isNamed = words.length > 0 && hasAll(entry.revision.toLowerCase(), words)
    return isNamed || ('keys' in entry && entry.keys.some(isKey))
  }
}

/** `GET /api/v1/history`, newest first, word for word as the ledger has it. */
export function registerHistory(app: FastifyInstance, parts: ServerParts): void {
  app.get<{ Querystring: Query }>('/api/v1/history', async ({ query }): Promise<HistoryReply> => {
    const text = oneOf(query, 'key')
    const key = text === undefined ? undefined : wellFormedKey(text)
    const limit = wholeOf(query, 'limit', { least: 1, most: ALL_KEPT, absent: 100 })
    return { items: await parts.history({ key, limit }) }
  })
}

/**
 * One story of both, newest first.
 * @param whole whether `history` goes back to its beginning; otherwise the oldest revision in it may have come earlier
 */
export function timelineOf(
  history: readonly HistoryEntry[],
  source: readonly SourceEntry[],
  { whole }: { readonly whole: boolean },
): readonly TimelineEntry[] {
  const end = whole ? -Infinity : (history.at(-1)?.at ?? -Infinity)
  const recent = source.filter(({ at }) => at >= end)
  const entries: readonly TimelineEntry[] = [
    ...history,
    ...earlierRevisions(history, source, whole),
    ...recent,
  ]
  // stable: of one moment, what was done stands above the revision it came of
  return entries.toSorted((a, b) => b.at - a.at)
}

function earlierRevisions(
  history: readonly HistoryEntry[],
  source: readonly SourceEntry[],
  whole: boolean,
): readonly EarlierRevision[] {
  const known = new Set(source.flatMap((entry) => (entry.type === 'revision' ? entry.revision : [])))
  const first = new Map<string, number>()
  for (const { revision, at } of history) if (revision !== '') first.set(revision, at)
  if (!whole) first.delete(history.at(-1)?.revision ?? '')
  return [...first]
    .filter(([revision]) => !known.has(revision))
    .map(([revision, at]) => ({ type: 'revision', at, revision, earlier: true }))
}
