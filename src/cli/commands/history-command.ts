import type { HistoryQuery } from '../../contract/ledger.ts'
import { timeOf } from '../../kinds/instant.ts'
import type { Settings } from '../../config/settings.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { sheetOf, fitLines, formatTable, plainText, type Sheet, wrapped } from '../render/terminal.ts'
import { openReader } from '../reading.ts'
import { filterWords, passes, type ResourceFilter } from '../resource-filter.ts'
import { didYouMean, keyFrom } from '../command-context.ts'
import { innerCause } from '../../plan/reason.ts'
import { shortRevision } from '../../contract/catalog.ts'

/** More lines than a ledger keeps. All are read, because the filters apply afterwards. */
const ALL_LINES = 100_000

export async function history(
  io: Io,
  settings: Settings,
  flags: ResourceFilter & { readonly limit: number; readonly output: 'text' | 'wide' | 'json' },
  word?: string,
): Promise<ExitCode> {
  const { limit, output } = flags
  const key = word === undefined ? undefined : keyFrom(word)
  await using source = await openReader(io, settings, { command: 'history' })
  // One more than shown, to detect older entries.
  const found = await entriesOf(source, { key, limit: limit + 1 }, flags)
  const entries = found.slice(0, limit)
  if (key !== undefined && entries.length === 0) await assertKnown(source, key)
  if (output === 'json') {
    printJson(io, entries)
    return EXIT.fine
  }
  if (entries.length === 0) {
    print(io.stdout, nothingFound(key, flags))
    return EXIT.fine
  }
  print(io.stdout, historyText(entries, { ...sheetOf(io), form: output }))
  if (found.length > entries.length)
    print(io.stdout, `\nShown: the newest ${entries.length}. For older entries, add --limit N.`)
  return EXIT.fine
}

async function entriesOf(
  source: Awaited<ReturnType<typeof openReader>>,
  { key, limit }: HistoryQuery,
  filter: ResourceFilter,
): Promise<readonly HistoryEntry[]> {
  if (filterWords(filter) === '') return source.history({ key, limit })
  const labels =
    filter.label === undefined
      ? undefined
      : new Map((await source.status()).resources.map(({ key: of, labels: own }) => [of, own]))
  const all = await source.history({ key, limit: ALL_LINES })
  const found = all.filter(({ key: of, reason, at }) =>
    passes({ kind: kindOf(of), reasons: [reason], at, labels: labels?.get(of) ?? {} }, filter),
  )
  return found.slice(0, limit)
}

async function assertKnown(source: Awaited<ReturnType<typeof openReader>>, key: Key): Promise<void> {
  const known = (await source.status()).resources.map((view) => view.key)
  if (known.includes(key) || (await source.history({ key, limit: 1 })).length > 0) return
  throw new CommandError(`there is no history of ${key}. ${didYouMean(key, known)}`)
}

function nothingFound(key: Key | undefined, filter: ResourceFilter): string {
  if (key !== undefined) return `No entry of ${key} matches.`
  const isNarrow = filterWords(filter) !== ''
  return isNarrow ? `No entry of the history matches ${filterWords(filter)}.` : 'The history is empty.'
}

/** If fewer terminal columns are left for a message, each message gets its own line. */
const LEAST_MESSAGE = 40

export function historyText(
  entries: readonly HistoryEntry[],
  { paint, width, form }: Sheet & { readonly form: 'text' | 'wide' },
): string {
  const wide = form === 'wide'
  const head = ['TIME', 'RESOURCE', 'WHAT', ...(wide ? ['REVISION', 'REQUEST'] : []), 'MESSAGE']
  const said = new Set(entries.filter(({ type }) => type === 'action').map(wordsOf))
  const rows = entries.map((entry) => ({
    facts: [
      timeOf(entry.at),
      entry.key,
      whatOf(entry),
      ...(wide ? [shortRevision(entry.revision), entry.requestId ?? '-'] : []),
    ].map(plainText),
    message: plainText(entry.message),
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

function wordsOf({ key, message }: HistoryEntry): string {
  return `${key} ${message}`
}

/** @returns such as `create New: done` for an action, `Synced=False: Drifted` for a condition */
function whatOf(entry: HistoryEntry): string {
  return entry.type === 'action'
    ? `${entry.action} ${entry.reason}: ${entry.result}`
    : `${entry.condition}=${entry.status}: ${entry.reason}`
}
