import { type Command, InvalidArgumentError } from 'commander'
import { timeOf } from '../kinds/instant.ts'
import { RESOURCE_KINDS } from '../kinds/lookup.ts'
import { parseDuration } from '../lib/duration.ts'
import { nearest } from '../lib/nearest.ts'
import { REASONS } from '../plan/reason.ts'
import { STATUSES } from '../plan/severity.ts'
import { CommandError, EXIT } from './io.ts'

/** What `status` and `history` are narrowed to; an empty list, or no time, narrows nothing. */
export interface ResourceFilter {
  readonly kinds: readonly string[]
  /** Each must be there: `name`, or `name=value`. */
  readonly labels: readonly string[]
  readonly statuses: readonly string[]
  readonly reasons: readonly string[]
  /** ms since the epoch. */
  readonly since: number | undefined
}

/** The filter as flags; empty if it narrows nothing. */
export function filterWords({ kinds, labels, statuses, reasons, since }: ResourceFilter): string {
  const flags = [
    ['--kind', kinds.join(',')],
    ...labels.map((label) => ['--label', label]),
    ['--status', statuses.join(',')],
    ['--reason', reasons.join(',')],
    ['--since', since === undefined ? '' : timeOf(since)],
  ]
  return flags
    .filter(([flag, value]) => value !== '' || flag === '--label')
    .map((words) => words.join(' '))
    .join(' ')
}

/** @throws {CommandError} if a command has a key and a filter */
export function assertNoFilter(key: string | undefined, filter: ResourceFilter): void {
  const flags = filterWords(filter)
  if (key === undefined || flags === '') return
  throw new CommandError(
    `status: ${flags} narrows the list of all resources, and ${key} is one of them. Leave out either.`,
    EXIT.usage,
  )
}

/** What is asked of a resource; a line of history has no status. */
export interface Filtered {
  readonly kind: string
  readonly labels: Readonly<Record<string, string>>
  readonly status?: string
  readonly reasons: readonly string[]
  /** When it came to be so. */
  readonly at: number
}

interface FilterFlags {
  readonly kind?: readonly string[]
  readonly label?: readonly string[]
  readonly status?: readonly string[]
  readonly reason?: readonly string[]
  readonly since?: number
}

/** The flags of a filter. @param of what they narrow */
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
    .option('--since <TIME>', 'only from then on: 2h, or a time such as 2026-01-31T08:00:00Z', timeFrom)
}

function appended(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

export function readFilter({ kind, label, status, reason, since }: FilterFlags): ResourceFilter {
  return { kinds: kind ?? [], labels: label ?? [], statuses: status ?? [], reasons: reason ?? [], since }
}

/** Words with commas between them, in any case. */
function wordsAmong(known: readonly string[]): (text: string) => readonly string[] {
  return (text) =>
    text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
      .map((word) => {
        const found = known.find((one) => one.toLowerCase() === word.toLowerCase())
        if (found !== undefined) return found
        const near = nearest(word, known)
        throw new InvalidArgumentError(
          near === undefined ? `Give ${someOf(known)}.` : `Did you mean ${near}?`,
        )
      })
}

/** Words that fit one line. */
const MAX_WORDS = 12

function someOf(words: readonly string[]): string {
  if (words.length <= MAX_WORDS) return words.join(', ')
  return 'one that "pipewright status" shows; docs/runbook.md has an entry for each'
}

/** ms since the epoch. */
function timeFrom(text: string): number {
  const ago = parseDuration(text)
  if (ago !== undefined) return Date.now() - ago
  const at = Date.parse(text)
  if (/^\d{4}-/.test(text) && !Number.isNaN(at)) return at
  throw new InvalidArgumentError('Give a duration such as 2h, or a time such as 2026-01-31T08:00:00Z.')
}

export function passes({ kind, labels, status, reasons, at }: Filtered, filter: ResourceFilter): boolean {
  return (
    isAmong(filter.kinds, kind) &&
    (filter.reasons.length === 0 || reasons.some((reason) => filter.reasons.includes(reason))) &&
    (status === undefined || isAmong(filter.statuses, status)) &&
    (filter.since === undefined || at >= filter.since) &&
    filter.labels.every((label) => hasLabel(labels, label))
  )
}

function isAmong(words: readonly string[], word: string): boolean {
  return words.length === 0 || words.includes(word)
}

function hasLabel(labels: Readonly<Record<string, string>>, label: string): boolean {
  const at = label.indexOf('=')
  const name = at === -1 ? label : label.slice(0, at)
  return Object.hasOwn(labels, name) && (at === -1 || labels[name] === label.slice(at + 1))
}
