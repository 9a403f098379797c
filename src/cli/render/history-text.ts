import type { HistoryEntry } from '../../contract/history.ts'
import { innerCause } from '../../plan/reason.ts'
import { shortRevision } from '../../contract/catalog.ts'
import { fitLines, formatTable, printable, type Sheet, wrapped } from './terminal.ts'

interface HistoryText extends Sheet {
  /** `wide` adds revision and request. */
  readonly form: 'text' | 'wide'
}

/** With less room, a message goes on its own line. */
const LEAST_MESSAGE = 40

export function historyText(entries: readonly HistoryEntry[], { paint, width, form }: HistoryText): string {
  const wide = form === 'wide'
  const head = ['TIME', 'RESOURCE', 'WHAT', ...(wide ? ['REVISION', 'REQUEST'] : []), 'MESSAGE']
  const said = new Set(entries.filter(({ type }) => type === 'action').map(wordsOf))
  const rows = entries.map((entry) => ({
    facts: factsOf(entry, wide).map(printable),
    message: printable(entry.message),
    means: innerCause({ reason: entry.reason }, entry.key),
    isRepeated: entry.type === 'condition' && said.has(wordsOf(entry)),
  }))
  const heads = head.map((name) => paint('dim', name))
  const facts = formatTable([heads.slice(0, -1), ...rows.map((row) => row.facts)]).split('\n')
  const longest = Math.max(...facts.slice(1).map(({ length }) => length))
  if (wide || longest + LEAST_MESSAGE <= width) {
    const lines = rows.map((row) => [...row.facts, row.isRepeated ? row.means : row.message])
    const table = formatTable([heads, ...lines])
    return wide ? table : fitLines(table, width)
  }
  return rows
    .map(({ message, isRepeated }, index) =>
      [
        fitLines(facts[index + 1] ?? '', width),
        ...(isRepeated ? [] : [paint('dim', wrapped(message, '    ', width))]),
      ].join('\n'),
    )
    .join('\n')
}

/** If a condition repeats its action's message, the meaning of its reason. */
function wordsOf({ key, message }: HistoryEntry): string {
  return `${key} ${message}`
}

function factsOf(entry: HistoryEntry, wide: boolean): readonly string[] {
  return [
    new Date(entry.at).toISOString().replace(/\.\d+Z$/, 'Z'),
    entry.key,
    whatOf(entry),
    ...(wide ? [shortRevision(entry.revision), entry.requestId ?? '-'] : []),
  ]
}

/** `create New: done`, `Synced=False: Drifted`. */
function whatOf(entry: HistoryEntry): string {
  return entry.type === 'action'
    ? `${entry.action} ${entry.reason}: ${entry.result}`
    : `${entry.condition}=${entry.status}: ${entry.reason}`
}
