import { type Command, InvalidArgumentError } from 'commander'
import { timeOf } from '../kinds/instant.ts'
import { RESOURCE_KINDS } from '../kinds/lookup.ts'
import { parseDuration } from '../lib/duration.ts'
import { nearest } from '../lib/nearest.ts'
import { REASONS } from '../plan/reason.ts'
import { STATUSES } from '../plan/severity.ts'
import { misuse } from './io.ts'

/** Of `status` and `history`. Empty lists and undefined do not filter. */
export interface ResourceFilter {
  readonly kinds: readonly string[]
  /** `name` or `name=value`; all must match. */
  readonly labels: readonly string[]
  readonly statuses: readonly string[]
  readonly reasons: readonly string[]
  /** ms since the epoch. */
  readonly since: number | undefined
}

/** As flags, for suggested commands. */
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
  misuse(`status: ${flags} narrows the list of all resources, and ${key} is one of them. Leave out either.`)
}

interface Filtered {
  readonly kind: string
  readonly labels: Readonly<Record<string, string>>
  readonly status?: string
  readonly reasons: readonly string[]
  /** Time of the status or entry. */
  readonly at: number
}

/** Parsed by commander. */
export interface FilterFlags {
  readonly kind?: readonly string[]
  readonly label?: readonly string[]
  readonly status?: readonly string[]
  readonly reason?: readonly string[]
  readonly since?: number
}

/** @param of the filtered list */
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

/** Separated by commas, in any case. */
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

/** More words do not fit a line of help. */
const MAX_WORDS = 12

function someOf(words: readonly string[]): string {
  if (words.length <= MAX_WORDS) return words.join(', ')
  return 'a status from "pipewright status". docs/runbook.md has an entry for each'
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
