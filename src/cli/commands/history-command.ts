import type { Settings } from '../../config/settings.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import { CommandError, EXIT, type ExitCode, type Io, print, printJson } from '../io.ts'
import { historyText } from '../render/history-text.ts'
import { sheetOf } from '../render/terminal.ts'
import { openReader, type Reader } from '../reading.ts'
import { filterWords, passes, type ResourceFilter } from '../resource-filter.ts'
import { didYouMean, keyFrom } from '../typed-key.ts'

export const HISTORY_OUTPUTS = ['text', 'wide', 'json'] as const

interface HistoryFlags extends ResourceFilter {
  readonly limit: number
  readonly output: (typeof HISTORY_OUTPUTS)[number]
}

/** More than any ledger keeps: filters apply after reading. */
const ALL_LINES = 100_000

/** Newest first, from the ledger or from `--server`. */
export async function history(
  io: Io,
  settings: Settings,
  flags: HistoryFlags,
  word?: string,
): Promise<ExitCode> {
  const { limit, output } = flags
  const key = word === undefined ? undefined : keyFrom(word)
  await using source = await openReader(io, settings, { command: 'history' })
  // One more, to detect further entries.
  const found = await entriesOf(source, { filter: flags, limit: limit + 1, key })
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
  const text = { ...sheetOf(io), form: output }
  print(io.stdout, historyText(entries, text))
  if (found.length > entries.length)
    print(io.stdout, `\nThe newest ${entries.length} are shown. There are older ones: add --limit N.`)
  return EXIT.fine
}

async function entriesOf(
  source: Reader,
  {
    key,
    filter,
    limit,
  }: { readonly key: Key | undefined; readonly filter: ResourceFilter; readonly limit: number },
): Promise<readonly HistoryEntry[]> {
  if (filterWords(filter) === '') return source.history({ key, limit })
  const labels =
    filter.label === undefined
      ? undefined
      : new Map((await source.status()).resources.map(({ key: of, labels: own }) => [of, own]))
  const all = await source.history({ key, limit: ALL_LINES })
  const found = all.filter((entry) =>
    passes({ ...entryFacts(entry), labels: labels?.get(entry.key) ?? {} }, filter),
  )
  return found.slice(0, limit)
}

function entryFacts({ key, reason, at }: HistoryEntry) {
  return { kind: kindOf(key), reasons: [reason], at }
}

/** @throws {CommandError} if the key has no resource and no history */
async function assertKnown(source: Reader, key: Key): Promise<void> {
  const known = (await source.status()).resources.map((view) => view.key)
  if (known.includes(key) || (await source.history({ key, limit: 1 })).length > 0) return
  throw new CommandError(`there is no history of ${key}. ${didYouMean(key, known)}`)
}

function nothingFound(key: Key | undefined, filter: ResourceFilter): string {
  if (key !== undefined) return `No entry of ${key} matches.`
  const isNarrow = filterWords(filter) !== ''
  return isNarrow ? `No entry of the history matches ${filterWords(filter)}.` : 'The history is empty.'
}
