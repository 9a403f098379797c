import type { Settings } from '../../config/settings.ts'
import { commandContext, settingsOfDaemon } from '../command-context.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import type { HistoryQuery } from '../../contract/ledger.ts'
import type { CommandContext } from '../../server/command-line.ts'
import { openLedgerToRead, sayMoved } from '../compose.ts'
import { networkToOthers } from '../compose-network.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { historyText } from '../render/history-text.ts'
import { paintFor, printable, widthOfTerminal } from '../render/terminal.ts'
import { readServerHistory, readServerStatus } from '../server-reading.ts'
import { filterWords, passes, type ResourceFilter } from '../resource-filter.ts'
import { typedKey } from '../typed-key.ts'
import { didYouMean } from '../did-you-mean.ts'

export const HISTORY_OUTPUTS = ['text', 'wide', 'json'] as const

export interface HistoryOptions {
  readonly key: string | undefined
  readonly filter: ResourceFilter
  readonly limit: number
  readonly output: (typeof HISTORY_OUTPUTS)[number]
}

/** Lines of history that a ledger keeps, and more: the filter comes after. */
const ALL_LINES = 100_000

/** `pipewright history [key]`: what was done and what changed, newest first; of a ledger, or of the daemon that `--server` names. */
export async function history(io: Io, settings: Settings, options: HistoryOptions): Promise<ExitCode> {
  const key = options.key === undefined ? undefined : typedKey(options.key)
  if (options.key !== undefined && key === undefined) {
    throw new CommandError(
      `"${printable(options.key)}" is not a key: give Kind/name, such as Pipe/orders.`,
      EXIT.usage,
    )
  }
  await using source = await openHistory(io, settings)
  // One more, to know whether there are more.
  const found = await entriesOf(source, { ...options, limit: options.limit + 1, key })
  const entries = found.slice(0, options.limit)
  if (key !== undefined && entries.length === 0) await assertKnown(source, key)
  if (options.output === 'json') {
    printJson(io, entries)
    return EXIT.fine
  }
  if (entries.length === 0) {
    print(io.stdout, nothingFound(key, options.filter))
    return EXIT.fine
  }
  const text = {
    paint: paintFor(io.stdout, io.env),
    width: widthOfTerminal(io.stdout),
    form: options.output,
    here: await source.here(),
  }
  print(io.stdout, historyText(entries, text))
  if (found.length > entries.length)
    print(io.stdout, `\nThe newest ${entries.length} are shown. There are older ones: add --limit N.`)
  return EXIT.fine
}

/** Where history is read. */
interface HistorySource extends AsyncDisposable {
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  resources(): Promise<readonly Labelled[]>
  /** What commands in its messages have to name. */
  here(): Promise<CommandContext>
}

interface Labelled {
  readonly key: Key
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** The daemon that `--server` names, or the ledger. @throws {LedgerError} */
async function openHistory(io: Io, settings: Settings): Promise<HistorySource> {
  const { server } = settings
  if (server === undefined) {
    const ledger = await openLedgerToRead(settings)
    sayMoved(io, ledger, settings)
    return {
      history: (query) => ledger.history(query),
      resources: () => ledger.list(),
      here: async () => commandContext(settingsOfDaemon(settings, (await ledger.activity()).last)),
      [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
    }
  }
  const asked = { command: 'history', server, network: networkToOthers(settings) }
  return {
    history: (query) => readServerHistory(io, asked, query),
    resources: async () => (await readServerStatus(io, asked)).resources,
    here: async () => commandContext(settings),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

async function entriesOf(
  source: HistorySource,
  { key, filter, limit }: Pick<HistoryOptions, 'filter' | 'limit'> & { readonly key: Key | undefined },
): Promise<readonly HistoryEntry[]> {
  const isNarrow = filterWords(filter) !== ''
  if (!isNarrow) return source.history({ key, limit })
  const labels =
    filter.labels.length === 0
      ? undefined
      : new Map((await source.resources()).map((record) => [record.key, record.labels]))
  const all = await source.history({ key, limit: ALL_LINES })
  const found = all.filter((entry) =>
    passes({ ...entryFacts(entry), labels: labels?.get(entry.key) ?? {} }, filter),
  )
  return found.slice(0, limit)
}

function entryFacts({ key, reason, at }: HistoryEntry) {
  return { kind: kindOf(key), reasons: [reason], at }
}

/** @throws {CommandError} when there is neither a resource of this key nor a line of one that was */
async function assertKnown(source: HistorySource, key: Key): Promise<void> {
  const known = (await source.resources()).map((record) => record.key)
  if (known.includes(key) || (await source.history({ key, limit: 1 })).length > 0) return
  throw new CommandError(`there is no history of ${key}. ${didYouMean(key, known)}`)
}

function nothingFound(key: Key | undefined, filter: ResourceFilter): string {
  if (key !== undefined) return `Nothing is recorded of ${key} that matches.`
  const isNarrow = filterWords(filter) !== ''
  return isNarrow ? `Nothing in the history matches ${filterWords(filter)}.` : 'The history is empty.'
}
