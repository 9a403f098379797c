import type { HistoryEntry } from '../../contract/history.ts'
import type { Key } from '../../kinds/key.ts'
import type { SourceEntry } from '../recent-events.ts'

/** Similar changes in a commit. */
export interface AlikeEntries {
  readonly type: 'alike'
  /** Of the newest: ms since the epoch. */
  readonly at: number
  readonly revision: string
  /** Of the newest resource: an action, or conditions that changed together. */
  readonly entries: readonly [HistoryEntry, ...HistoryEntry[]]
  /** Newest first. */
  readonly keys: readonly Key[]
  /** Unread history might have more. */
  readonly more: boolean
}

/** Read by an earlier process. */
export interface EarlierRevision {
  readonly type: 'revision'
  /** Of its first entry. */
  readonly at: number
  readonly revision: string
  readonly earlier: true
}

export type SingleEntry = HistoryEntry | SourceEntry | EarlierRevision

export type TimelineEntry = SingleEntry | AlikeEntries

const FEW = 3

/** A longer gap starts a new group. */
const GAP_MS = 60_000

interface Line {
  readonly entries: readonly SingleEntry[]
  readonly history: readonly HistoryEntry[]
  /** Equal for similar changes. */
  readonly alike: string
  readonly at: number
}

/**
 * Groups similar changes of more than three resources.
 * @param entries newest first
 * @param options `whole`: includes the oldest entry
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
