import type { Command } from 'commander'
import type { SettingProblem } from '../config/setting-problem.ts'
import { timeOf } from '../kinds/instant.ts'
import { RESOURCE_KINDS } from '../kinds/lookup.ts'
import { parseDuration } from '../lib/duration.ts'
import { nearest } from '../lib/nearest.ts'
import { REASONS } from '../plan/reason.ts'
import { STATUSES } from '../plan/severity.ts'

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

/** The flags of a filter, with what they ask for, as one would write them; none of a filter that narrows nothing. */
export function filterFlags({
  kinds,
  labels,
  statuses,
  reasons,
  since,
}: ResourceFilter): readonly FilterFlag[] {
  const all: readonly FilterFlag[] = [
    ['--kind', kinds.join(',')],
    ...labels.map((label): FilterFlag => ['--label', label]),
    ['--status', statuses.join(',')],
    ['--reason', reasons.join(',')],
    ['--since', since === undefined ? '' : timeOf(since)],
  ]
  return all.filter(([flag, value]) => value !== '' || flag === '--label')
}

type FilterFlag = readonly [flag: string, value: string]

export function filterWords(filter: ResourceFilter): string {
  return filterFlags(filter)
    .map((words) => words.join(' '))
    .join(' ')
}

/** What is wrong with a filter beside a key: there is nothing to narrow. */
export function besideKey(key: string | undefined, filter: ResourceFilter): readonly SettingProblem[] {
  if (key === undefined) return []
  const why = 'it narrows the list of all resources, and a key names one of them'
  return filterFlags(filter).map(([from, given]) => ({
    setting: undefined,
    from,
    given,
    why,
    right: `leave out either the key or ${from}`,
  }))
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
  readonly kind?: string
  readonly label?: readonly string[]
  readonly status?: string
  readonly reason?: string
  readonly since?: string
}

/** The flags of a filter. @param of what they narrow */
export function withFilter(command: Command, of: 'resources' | 'history'): Command {
  command
    .option('--kind <KINDS>', `only of these kinds: ${RESOURCE_KINDS.join(', ')}`)
    .option('--label <NAME=VALUE>', 'only with this label; may be repeated', gathered)
  if (of === 'resources')
    command.option('--status <STATUSES>', 'only with these statuses, such as Drifted,Failed')
  return command
    .option('--reason <REASONS>', 'only with these reasons, such as CreateLimit')
    .option(
      '--since <TIME>',
      of === 'resources'
        ? 'only what came to be so since then: 2h, or a time such as 2026-01-31T08:00:00Z'
        : 'only from then on: 2h, or a time such as 2026-01-31T08:00:00Z',
    )
}

function gathered(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/** @param now ms since the epoch */
export function readFilter(
  flags: FilterFlags,
  now: number,
): { readonly filter: ResourceFilter; readonly problems: readonly SettingProblem[] } {
  const problems: SettingProblem[] = []
  const words = (flag: string, text: string | undefined, known: readonly string[]) => {
    const given = (text ?? '').split(',').map((word) => word.trim())
    return given.flatMap((word) => {
      if (word === '') return []
      const found = known.find((one) => one.toLowerCase() === word.toLowerCase())
      if (found !== undefined) return [found]
      const near = nearest(word, known)
      const right = near === undefined ? `give ${someOf(known)}` : `did you mean ${near}?`
      problems.push({
        setting: undefined,
        from: flag,
        given: word,
        why: 'it is not one of the possible values',
        right,
      })
      return []
    })
  }
  const since = flags.since === undefined ? undefined : timeFrom(flags.since, now)
  if (since === 'wrong') {
    const right = 'give a duration such as 2h, or a time such as 2026-01-31T08:00:00Z'
    problems.push({ setting: undefined, from: '--since', given: flags.since, why: 'it is not a time', right })
  }
  const filter: ResourceFilter = {
    kinds: words('--kind', flags.kind, RESOURCE_KINDS),
    labels: flags.label ?? [],
    statuses: words('--status', flags.status, STATUSES),
    reasons: words('--reason', flags.reason, Object.keys(REASONS)),
    since: since === 'wrong' ? undefined : since,
  }
  return { filter, problems }
}

/** More on one line than this, nobody reads. */
const MOST_WORDS = 12

function someOf(words: readonly string[]): string {
  if (words.length <= MOST_WORDS) return words.join(', ')
  return 'one that "pipewright status" shows; docs/runbook.md has an entry for each'
}

function timeFrom(text: string, now: number): number | 'wrong' {
  const ago = parseDuration(text)
  if (ago !== undefined) return now - ago
  const at = Date.parse(text)
  return /^\d{4}-/.test(text) && !Number.isNaN(at) ? at : 'wrong'
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
