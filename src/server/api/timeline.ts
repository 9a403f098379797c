import type { HistoryEntry } from '../../contract/history.ts'
import type { Key } from '../../kinds/key.ts'
import {
  nextPage,
  singleOf,
  type Paged,
  partOf,
  pickedOf,
  wellFormedKey,
  wordsOf,
  type Query,
} from '../parameters.ts'
import type { ServerParts } from '../parts.ts'
import type { SourceEntry } from '../recent-events.ts'
import { hasAll, isNarrowed, keysSelected, NARROWING, type Narrowing, narrowingOf } from './selection.ts'

const TYPES = ['revision', 'source', 'action', 'condition'] as const

/** Maximum of history lines that a ledger keeps. */
const ALL_KEPT = 10_000

/** History lines to read for each item, because a filter drops lines, and a group joins many. */
const LINES_AN_ITEM = 125

export interface TimelineReply extends Omit<Paged<TimelineEntry>, 'total'> {
  readonly more: boolean
}

export type HistoryReply = Omit<Paged<HistoryEntry>, 'total'>

const PARAMETERS = [...NARROWING, 'type', 'offset', 'limit'] as const

export async function timelineReply(parts: ServerParts, given: Query): Promise<TimelineReply> {
  const query = pickedOf(given, PARAMETERS)
  const part = partOf(query)
  const types = wordsOf(query, 'type', TYPES)
  const isWanted = entriesSelected(parts, narrowingOf(query))
  const end = part.offset + part.limit
  const read = Math.min(end * LINES_AN_ITEM, ALL_KEPT)
  const history = await parts.history({ key: undefined, limit: read })
  const whole = history.length < read || read === ALL_KEPT
  const entries = timelineOf(history, parts.recentEvents.source(), { whole }).filter(
    (entry) => (types?.has(entry.type) ?? true) && isWanted(entry),
  )
  const items = together(entries, { whole })
  const more = items.length > end || !whole
  const shown = items.slice(part.offset, end)
  const next = more && shown.length > 0 ? nextPage(query, { offset: String(end) }) : undefined
  return { items: shown, more, next }
}

function entriesSelected({ board }: ServerParts, narrowing: Narrowing): (entry: SingleEntry) => boolean {
  if (!isNarrowed(narrowing)) return () => true
  const isKey = keysSelected(board.list(), narrowing)
  const { words } = narrowing
  return (entry) => {
    if ('key' in entry) return isKey(entry.key)
    if (entry.type !== 'revision') return false
    const isNamed = words.length > 0 && hasAll(entry.revision.toLowerCase(), words)
    return isNamed || ('keys' in entry && entry.keys.some(isKey))
  }
}

export async function historyReply(parts: ServerParts, given: Query): Promise<HistoryReply> {
  const query = pickedOf(given, ['key', 'offset', 'limit'])
  const text = singleOf(query, 'key')
  const key = text === undefined ? undefined : wellFormedKey(text)
  const { offset, limit } = partOf(query)
  const end = Math.min(offset + limit, ALL_KEPT)
  const entries = await parts.history({ key, limit: Math.min(end + 1, ALL_KEPT) })
  return {
    items: entries.slice(offset, end),
    next: entries.length > end ? nextPage(query, { offset: String(end) }) : undefined,
  }
}

export function timelineOf(
  history: readonly HistoryEntry[],
  source: readonly SourceEntry[],
  { whole }: { readonly whole: boolean },
): readonly SingleEntry[] {
  const oldest = whole ? undefined : history.at(-1)
  const end = oldest?.at ?? -Infinity
  const recent = source.filter(
    (entry) => entry.at >= end || (entry.type === 'revision' && entry.revision === oldest?.revision),
  )
  const entries: readonly SingleEntry[] = [...history, ...earlierRevisions(history, source, whole), ...recent]
  // stable: at equal times, an action is above its revision
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

/** Similar changes of several resources in a commit. */
interface AlikeEntries {
  readonly type: 'alike'
  /** Time of the newest: ms since the epoch. */
  readonly at: number
  readonly revision: string
  /** Entries of the resource that changed last: an action or conditions. */
  readonly entries: readonly [HistoryEntry, ...HistoryEntry[]]
  /** Newest first. */
  readonly keys: readonly Key[]
  /** Whether older history, which was not read, might have more keys. */
  readonly more: boolean
}

interface EarlierRevision {
  readonly type: 'revision'
  readonly at: number
  readonly revision: string
  readonly earlier: true
}

type SingleEntry = HistoryEntry | SourceEntry | EarlierRevision

export type TimelineEntry = SingleEntry | AlikeEntries

const FEW = 3

const GAP_MS = 60_000

interface Line {
  readonly entries: readonly SingleEntry[]
  readonly history: readonly HistoryEntry[]
  readonly alike: string
  readonly at: number
}

/**
 * Groups similar changes of more than three resources.
 * @param entries newest first
 * @param options `whole`: no older entries exist
 */
export function together(
  entries: readonly SingleEntry[],
  { whole }: { readonly whole: boolean },
): readonly TimelineEntry[] {
  const lines = linesOf(entries)
  const end = whole ? -Infinity : (entries.at(-1)?.at ?? -Infinity) + GAP_MS
  const runs = runsOf(lines)
  return lines.flatMap((line): readonly TimelineEntry[] => {
    const run = runs.get(line)
    const [first, ...rest] = line.history
    if (run === undefined || first === undefined || run.keys.size <= FEW) return line.entries
    if (run.newest !== line) return []
    const keys = [...run.keys]
    const more = run.oldestAt <= end
    return [{ type: 'alike', at: line.at, revision: first.revision, entries: [first, ...rest], keys, more }]
  })
}

function linesOf(single: readonly SingleEntry[]): readonly Line[] {
  const groups: SingleEntry[][] = []
  for (const entry of single) {
    const group = groups.at(-1)
    const [first] = group ?? []
    if (group !== undefined && first !== undefined && isOneMoment(first, entry)) group.push(entry)
    else groups.push([entry])
  }
  return groups.map((entries) => {
    const history = entries.filter((entry) => 'key' in entry)
    return { entries, history, alike: likenessOf(history), at: entries[0]?.at ?? 0 }
  })
}

function isOneMoment(first: SingleEntry, entry: SingleEntry): boolean {
  if (first.type !== 'condition' || entry.type !== 'condition') return false
  return first.key === entry.key && first.at === entry.at && first.revision === entry.revision
}

function likenessOf(history: readonly HistoryEntry[]): string {
  const said = history.map((entry) => {
    const { type, revision, reason } = entry
    const more = type === 'action' ? [entry.action, entry.result] : [entry.condition, entry.status]
    return JSON.stringify([revision, reason, ...more])
  })
  return said.toSorted().join('\n')
}

interface Run {
  readonly newest: Line
  readonly keys: Set<Key>
  oldestAt: number
}

function runsOf(lines: readonly Line[]): ReadonlyMap<Line, Run> {
  const runs = new Map<Line, Run>()
  const latest = new Map<string, Run>()
  for (const line of lines) {
    const [first] = line.history
    if (first === undefined) continue
    const known = latest.get(line.alike)
    const isNear = known !== undefined && known.oldestAt - line.at <= GAP_MS
    const run = isNear ? known : { newest: line, keys: new Set<Key>(), oldestAt: line.at }
    run.keys.add(first.key)
    run.oldestAt = line.at
    runs.set(line, run)
    latest.set(line.alike, run)
  }
  return runs
}
