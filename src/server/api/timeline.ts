import type { FastifyInstance } from 'fastify'
import { type CommandContext, messageTyped } from '../command-line.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import { oneOf, wellFormedKey, wholeOf, wordsOf, type Query } from '../parameters.ts'
import type { ServerParts } from '../parts.ts'
import type { SourceEntry } from '../recent-events.ts'
import { together } from './alike.ts'
import { hasAll, isNarrowed, keysSelected, searchWords } from './selection.ts'
import type { EarlierRevision, SingleEntry, TimelineEntry } from './timeline-entry.ts'

const TYPES = ['revision', 'source', 'create-limit', 'action', 'condition'] as const

const MOST_ITEMS = 1_000

/** Lines of history that are read for one item: those of one type may stand far back, and what happened to many resources is many of them. */
const LINES_AN_ITEM = 125

/** A ledger keeps no more lines. */
const ALL_KEPT = 10_000

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
    const limit = wholeOf(query, 'limit', { least: 1, most: MOST_ITEMS, absent: 100 })
    const types = wordsOf(query, 'type', TYPES)
    const isWanted = isNarrowed(query) ? entriesSelected(parts, query) : () => true
    const overview = parts.overview()
    const read = Math.min(limit * LINES_AN_ITEM, ALL_KEPT)
    const history = await parts.history({ key: undefined, limit: read })
    const whole = history.length < read || read === ALL_KEPT
    const entries = timelineOf(history, parts.recentEvents.source(), { whole }).filter(
      (entry) => (types?.has(entry.type) ?? true) && isWanted(entry),
    )
    const items = together(entries, { whole })
    return {
      items: items.slice(0, limit).map((item) => itemTyped(item, overview)),
      more: items.length > limit || !whole,
    }
  })
}

/** With commands that can be typed as they stand there. */
function itemTyped(item: TimelineEntry, context: CommandContext): TimelineEntry {
  if (item.type === 'alike') {
    const [first, ...rest] = item.entries
    const typed = (entry: HistoryEntry) => messageTyped(entry, context)
    return { ...item, entries: [typed(first), ...rest.map(typed)] }
  }
  return 'key' in item ? messageTyped(item, context) : item
}

/** What is about a resource that is asked for, or about a commit that changed one. */
function entriesSelected({ board }: ServerParts, query: Query): (entry: SingleEntry) => boolean {
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
): readonly SingleEntry[] {
  const oldest = whole ? undefined : history.at(-1)
  const end = oldest?.at ?? -Infinity
  // The commit that all of it came of is shown, however much came of it.
  const recent = source.filter(
    (entry) => entry.at >= end || (entry.type === 'revision' && entry.revision === oldest?.revision),
  )
  const entries: readonly SingleEntry[] = [...history, ...earlierRevisions(history, source, whole), ...recent]
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
