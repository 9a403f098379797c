import { type Command, InvalidArgumentError } from 'commander'
import { duration } from '../config/parsers.ts'
import { timeOf } from '../kinds/instant.ts'
import { RESOURCE_KINDS } from '../kinds/lookup.ts'
import { parseDuration } from '../lib/duration.ts'
import { nearest } from '../lib/nearest.ts'
import { REASONS } from '../plan/reason.ts'
import { STATUSES } from '../plan/severity.ts'
import { hasLabel } from '../server/api/selection.ts'
import { misuse } from './io.ts'
import { parsedBy } from './usage.ts'

/** Flags as commander parses them. An absent flag does not filter. */
export interface ResourceFilter {
  readonly kind?: readonly string[]
  /** `name` or `name=value`; all must match. */
  readonly label?: readonly string[]
  readonly status?: readonly string[]
  readonly reason?: readonly string[]
  /** ms since the epoch. */
  readonly since?: number
}

export function filterWords({ kind, label = [], status, reason, since }: ResourceFilter): string {
  const flags = [
    ['--kind', kind?.join(',')],
    ...label.map((each) => ['--label', each]),
    ['--status', status?.join(',')],
    ['--reason', reason?.join(',')],
    ['--since', since === undefined ? undefined : timeOf(since)],
  ]
  return flags.flatMap(([flag, value]) => (value === undefined ? [] : `${flag} ${value}`)).join(' ')
}

export function assertNoFilter(key: string | undefined, filter: ResourceFilter): void {
  const flags = filterWords(filter)
  if (key === undefined || flags === '') return
  misuse(`status: ${flags} filters the list of all resources. Give either ${flags} or ${key}.`)
}

export function withFilter(command: Command, of: 'resources' | 'history'): Command {
  command
    .option('--kind <KINDS>', `only these kinds: ${RESOURCE_KINDS.join(', ')}`, wordsAmong(RESOURCE_KINDS))
    .option('--label <NAME=VALUE>', 'only with this label; can be repeated', appended)
  if (of === 'resources')
    command.option(
      '--status <STATUSES>',
      'only with these statuses, such as Drifted,Failed',
      wordsAmong(STATUSES),
    )
  return command
    .option(
      '--reason <REASONS>',
      'only with these reasons, such as CreateLimit',
      wordsAmong(Object.keys(REASONS)),
    )
    .option(
      '--since <TIME>',
      'only since: 2h for two hours ago, or a time such as 2026-01-31T08:00:00Z',
      timeFrom,
    )
}

function appended(value: string, before: readonly string[] = []): readonly string[] {
  if (/^(?:=|$)/.test(value)) throw new InvalidArgumentError('Give a NAME or NAME=VALUE.')
  return [...before, value]
}

/** Parses words separated by commas, in upper or lower case. */
function wordsAmong(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const words = text.split(',').filter((word) => word.trim() !== '')
    if (words.length === 0) throw new InvalidArgumentError(`Give ${someOf(known)}.`)
    return words.map((word) => {
      const found = known.find((one) => one.toLowerCase() === word.trim().toLowerCase())
      if (found !== undefined) return found
      const near = nearest(word.trim(), known)
      throw new InvalidArgumentError(near === undefined ? `Give ${someOf(known)}.` : `Did you mean ${near}?`)
    })
  }
}

/** More words do not fit a line of help. */
const MAX_WORDS = 12

function someOf(words: readonly string[]): string {
  if (words.length <= MAX_WORDS) return words.join(', ')
  return 'a reason that "pipewright status" shows. All reasons: docs/reference/runbook.md'
}

const MAX_AGO_MS = 36_500 * 24 * 3_600_000

/** ms since the epoch. */
function timeFrom(text: string): number {
  if (parseDuration(text) !== undefined) return Date.now() - parsedBy(duration(0, MAX_AGO_MS))(text)
  const at = Date.parse(text)
  if (/^\d{4}-/.test(text) && !Number.isNaN(at)) return at
  throw new InvalidArgumentError('Give a duration such as 2h, or a time such as 2026-01-31T08:00:00Z.')
}

export function passes(
  filtered: {
    readonly kind: string
    readonly labels: Readonly<Record<string, string>>
    readonly status?: string
    readonly reasons: readonly string[]
    readonly at: number
  },
  filter: ResourceFilter,
): boolean {
  const { kind, labels, status, reasons, at } = filtered
  return (
    (filter.kind?.includes(kind) ?? true) &&
    (filter.reason === undefined || reasons.some((reason) => filter.reason?.includes(reason))) &&
    (status === undefined || (filter.status?.includes(status) ?? true)) &&
    (filter.since === undefined || at >= filter.since) &&
    (filter.label ?? []).every((label) => hasLabel(label)({ labels }))
  )
}
