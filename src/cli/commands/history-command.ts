import type { Settings } from '../../config/settings.ts'
import { knownKey } from '../../kinds/lookup.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import { openLedgerAs } from '../compose.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson, nobody } from '../io.ts'
import { paintFor, formatTable, printable } from '../render/terminal.ts'

export const HISTORY_OUTPUTS = ['text', 'json'] as const

/** `pipewright history [key]`: what was done and what changed, newest first. */
export async function history(
  io: Io,
  settings: Settings,
  options: {
    readonly key: string | undefined
    readonly limit: number
    readonly output: (typeof HISTORY_OUTPUTS)[number]
  },
): Promise<ExitCode> {
  const key = options.key === undefined ? undefined : knownKey(options.key)
  if (options.key !== undefined && key === undefined) {
    throw new CommandError(`"${options.key}" is not a key: give Kind/name, such as Pipe/orders.`, EXIT.usage)
  }
  await using ledger = await openLedgerAs('reader', settings, nobody)
  const entries = await ledger.history({ key, limit: options.limit })
  if (options.output === 'json') printJson(io, entries)
  else if (entries.length === 0) print(io.stdout, 'Nothing happened yet.')
  else {
    const paint = paintFor(io.stdout, io.env)
    const head = ['TIME', 'RESOURCE', 'WHAT', 'REASON', 'REVISION', 'MESSAGE'].map((name) =>
      paint('dim', name),
    )
    print(io.stdout, printable(formatTable([head, ...rowsOf(entries)])))
  }
  return EXIT.fine
}

/** A condition often repeats the words of the action that it comes from; to read them once is enough. */
function rowsOf(entries: readonly HistoryEntry[]): readonly (readonly string[])[] {
  const said = new Set(entries.filter(({ type }) => type === 'action').map(wordsOf))
  return entries.map((entry) =>
    rowOf(entry, entry.type === 'condition' && said.has(wordsOf(entry)) ? 'See below.' : entry.message),
  )
}

function wordsOf({ key, message }: HistoryEntry): string {
  return `${key} ${message}`
}

function rowOf(entry: HistoryEntry, message: string): readonly string[] {
  const what =
    entry.type === 'action' ? `${entry.action} ${entry.result}` : `${entry.condition}=${entry.status}`
  const request = entry.requestId === undefined ? '' : ` (request ${entry.requestId})`
  return [
    new Date(entry.at).toISOString(),
    entry.key,
    what,
    entry.reason,
    entry.revision.slice(0, 20),
    `${message}${request}`,
  ]
}
