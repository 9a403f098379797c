import type { HistoryEntry } from '../../contract/history.ts'
import type { Key } from '../../kinds/key.ts'
import type { SingleEntry, TimelineEntry } from './timeline-entry.ts'

/** So many resources are named one by one. */
const FEW = 3

/** What came later than this after the one before is another story: ms. */
const GAP_MS = 60_000

/** What happened to one resource in one moment. */
interface Line {
  readonly entries: readonly SingleEntry[]
  /** Those of them that are about a resource: all, or none. */
  readonly history: readonly HistoryEntry[]
  /** Equal for what is alike. */
  readonly alike: string
  readonly at: number
}

/**
 * Puts together what happened alike to more than three resources, whatever stands between.
 * @param entries newest first
 * @param whole whether they go back to the beginning
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

/** Lines that are alike and not far from each other. */
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
