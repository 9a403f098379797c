import type { HistoryEntry } from '../../contract/history.ts'
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
    const run = runs.get(line) ?? [line]
    const keys = [...new Set(run.flatMap(({ history: [first] }) => first?.key ?? []))]
    const [first, ...rest] = line.history
    if (first === undefined || keys.length <= FEW) return line.entries
    if (run[0] !== line) return []
    const more = (run.at(-1)?.at ?? 0) <= end
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

/** For each line, all that are alike and not far from each other. */
function runsOf(lines: readonly Line[]): ReadonlyMap<Line, readonly Line[]> {
  const runs = new Map<Line, Line[]>()
  const latest = new Map<string, Line[]>()
  for (const line of lines) {
    if (line.history.length === 0) continue
    const known = latest.get(line.alike)
    const isNear = (known?.at(-1)?.at ?? Infinity) - line.at <= GAP_MS
    const run = known !== undefined && isNear ? known : []
    run.push(line)
    runs.set(line, run)
    latest.set(line.alike, run)
  }
  return runs
}
