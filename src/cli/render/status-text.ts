import { capital, nounOf } from '../../kinds/lookup.ts'
import { formatDuration } from '../../lib/duration.ts'
import { isWell, type Status } from '../../plan/severity.ts'
import type { Intent } from '../../plan/record.ts'
import { tellingCondition } from '../../contract/view.ts'
import type { ShownResource, NextStep } from '../../server/shown-resource.ts'
import { sameJson } from '../../lib/json.ts'
import type { StatusReading } from '../reading.ts'
import { wholeHints, wholeSentences } from '../daemon-summary.ts'
import type { DaemonSummary } from '../../contract/activity.ts'
import { shortRevision } from '../../contract/catalog.ts'
import { type StepContext, withCommands } from '../../plan/step.ts'
import { agoOf, fitLines, type Paint, formatTable, plainText, type Sheet, wrapped } from './terminal.ts'

const STYLES: Readonly<Record<Status, Parameters<Paint>[0]>> = {
  OutcomeUnknown: ['red', 'bold'],
  Invalid: 'red',
  Missing: 'red',
  Failed: 'red',
  Refused: 'red',
  Drifted: 'yellow',
  NotReady: 'yellow',
  Orphaned: 'yellow',
  Suspended: 'dim',
  Absent: 'dim',
  Progressing: 'cyan',
  Ready: 'green',
}

interface StatusText extends Sheet {
  /** ms since the epoch. */
  readonly now: number
  readonly form: 'text' | 'wide'
  readonly here: StepContext
  readonly isCheckKnown?: boolean | undefined
}

export function statusText(
  { daemon, whole, resources }: StatusReading,
  text: StatusText & { readonly nothing: string },
): string {
  const isOld = daemon.state === 'died' || daemon.state === 'silent'
  const closing = closingWords(resources, isOld)
  const list = resources.length === 0 ? text.nothing : resourceTable(resources, text, closing)
  const problems = problemLines(whole, text)
  const first = [daemonLine(daemon, text), ...revisionLine(daemon, whole, text)].map((line) =>
    wrapped(line, '', text.width),
  )
  const hints = wholeHints(whole, text.now, text.here).map((hint) => wrapped(hint, '', text.width))
  return plainText([...first, ...problems, ...hints, '', list].join('\n'))
}

export const NOTHING_RECORDED = 'No resource is recorded yet.'

/** Shows the age of the revision, because a high age reveals a stalled Git sync. */
function revisionLine(
  { state, last }: StatusReading['daemon'],
  { revisionSince, problem }: DaemonSummary,
  { now }: Pick<StatusText, 'now'>,
): readonly string[] {
  if (revisionSince === undefined || last?.revision === undefined) return []
  // A stopped or failing daemon might have missed a revision.
  const isLooking = state === 'running' && problem === undefined
  return [
    `Revision ${shortRevision(last.revision)} came ${agoOf(revisionSince, now)}${isLooking ? '; no other one since' : ''}.`,
  ]
}

function problemLines(whole: DaemonSummary, text: StatusText): readonly string[] {
  const problems = wholeSentences(whole, text.here)
  return problems.map((problem) => text.paint(['red', 'bold'], wrapped(problem, '', text.width)))
}

export function resourceTable(
  resources: readonly ShownResource[],
  text: StatusText,
  closing = closingWords(resources),
): string {
  const { paint } = text
  if (resources.length === 0) return NOTHING_RECORDED
  const head = ['RESOURCE', 'STATUS', 'REASON', 'CHECKED', ...(text.form === 'wide' ? WIDE : [])]
  const rows = resources.map((resource) => rowOf(resource, text))
  const table = fitLines(formatTable([head.map((name) => paint('dim', name)), ...rows]), text.width)
  const unwell = resources.filter((resource) => !isWell(resource))
  const details = [...Map.groupBy(unwell, ({ key, problem = key }) => problem).values()].map((group) =>
    causeLines(group, text),
  )
  return plainText(
    [table, '', ...(details.length === 0 ? [] : [details.join('\n\n'), '']), closing].join('\n'),
  )
}

const WIDE = ['SERVICE', 'PIPE', 'MANIFEST', 'FIRST READ AT'] as const

function rowOf(resource: ShownResource, text: StatusText): readonly string[] {
  const { paint, form } = text
  const { key, status, reason, service, pipeId } = resource
  return [
    key,
    paint(STYLES[status], status),
    reason,
    checkOf(resource, text),
    ...(form === 'wide'
      ? [service ?? '-', pipeId ?? '-', placeOf(resource), shortRevision(resource.manifestRevision ?? '-')]
      : []),
  ]
}

function checkOf(resource: ShownResource, { isCheckKnown, now }: StatusText): string {
  return isCheckKnown === false || isOnlyApplied(resource) ? '-' : agoOf(resource.checkedAt, now)
}

function isOnlyApplied({ checkedAt, appliedAt }: ShownResource): boolean {
  return checkedAt === undefined && appliedAt !== undefined
}

function placeOf({ file, line }: ShownResource): string {
  return file === undefined ? '-' : `${file}:${line ?? 1}`
}

const KEYS_NAMED = 3

function namedKeys(resources: readonly ShownResource[]): string {
  const keys = resources.map(({ key }) => key)
  const named = keys.slice(0, KEYS_NAMED).join(', ')
  return keys.length > KEYS_NAMED ? `${named} and ${keys.length - KEYS_NAMED} more` : named
}

function causeLines(group: readonly ShownResource[], { paint, width, here }: StatusText): string {
  const [first, ...others] = group
  if (first === undefined) return ''
  const { key, status, reason, message } = first
  const fit = (line: string) => wrapped(withCommands(line, here), '', width)
  if (others.length === 0) return fit(`${paint(STYLES[status], key)}: ${message}`)
  const { facts } = tellingCondition(first)
  const isSame = group.every((one) => sameJson(tellingCondition(one).facts, facts))
  const cause = `${paint(STYLES[status], `${group.length} resources, ${reason}`)}: ${isSame ? message : `For example ${key}: ${message}`}`
  return `${fit(cause)}\n  ${namedKeys(group)}`
}

const OLD = 'The status below is from the ledger and might be old. Read the log of that process'

export function daemonLine(
  { state, last }: StatusReading['daemon'],
  { now, paint }: Pick<StatusText, 'now' | 'paint'>,
): string {
  const who = last?.process === undefined ? '' : ` (process ${last.process} on ${last.host})`
  const what = last?.command === 'apply' ? '"pipewright apply"' : 'The daemon'
  const page = last?.url === undefined ? '' : ` Page: ${last.url}`
  switch (state) {
    case 'running': {
      const since = last === undefined ? '' : `, started ${agoOf(last.startedAt, now)}`
      return `${what} is running${who}${since}.${page}`
    }
    case 'silent':
      return paint(['red', 'bold'], `${what} does not respond${who}. ${OLD}, then restart it.`)
    case 'died':
      return paint(
        ['red', 'bold'],
        `${what} is not running: it started ${agoOf(last?.startedAt, now)} and died${who}. ${OLD}, then start it again.`,
      )
    case 'stopped':
      return `No daemon is running. ${what} stopped ${agoOf(last?.stoppedAt, now)}${who}. The status below is from that time.`
    case 'never':
      return 'No daemon is running, and the ledger has no record of an earlier run.'
  }
}

export function statusDetails(
  resource: ShownResource,
  { daemon, whole }: Pick<StatusReading, 'daemon' | 'whole'>,
  text: StatusText & { readonly cause?: string | undefined; readonly next: readonly NextStep[] },
): string {
  const { now, paint, next, cause = resource.message } = text
  const telling = tellingCondition(resource)
  const { key, status, pipeId, service, intent, appliedAt, manifestRevision } = resource
  const { Valid, Synced, Ready } = resource.conditions
  const conditions = Object.entries({ Valid, Synced, Ready }).map(([type, condition]) => [
    `  ${type}`,
    condition.status,
    condition.reason,
    condition.since === 0 ? '' : `for ${formatDuration(Math.max(0, now - condition.since))}`,
    type === 'Ready' && condition.reason === Synced.reason
      ? 'as Synced'
      : condition === telling
        ? cause
        : condition.message,
  ])
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['manifest', resource.file === undefined ? 'none' : placeOf(resource)],
    ['first read at', manifestRevision === undefined ? undefined : shortRevision(manifestRevision)],
    ['service', service],
    [nounOf(resource.key), pipeId],
    ['attempt', intent && attemptLine(intent)],
    ['applied', appliedAt === undefined ? undefined : agoOf(appliedAt, now)],
    ['last check', isOnlyApplied(resource) ? undefined : checkOf(resource, text)],
  ]
  const lines = [
    wrapped(daemonLine(daemon, text), '', text.width),
    ...problemLines(whole, text),
    '',
    `${paint('bold', key)}  ${paint(STYLES[status], status)}`,
    formatTable(facts.flatMap(([name, value]) => (value === undefined ? [] : [[`  ${name}`, value]]))),
    '',
    conditionLines(conditions, text.width),
    ...differenceLines(resource, paint),
    ...(conditions.some((cells) => cells.includes(cause)) ? [] : ['', cause]),
    ...nextLines(next, text),
  ]
  return plainText(lines.join('\n'))
}

function conditionLines(rows: readonly (readonly string[])[], width: number): string {
  const table = formatTable(rows)
  if (table.split('\n').every((line) => line.length <= width)) return table
  const heads = formatTable(rows.map((row) => row.slice(0, -1))).split('\n')
  return rows.map((row, index) => `${heads[index]}\n${wrapped(row.at(-1) ?? '', '    ', width)}`).join('\n')
}

function nextLines(steps: readonly NextStep[], { paint, here }: StatusText): readonly string[] {
  if (steps.length === 0) return []
  return [
    '',
    'Next steps:',
    ...steps.flatMap(({ text, copy }) => [
      wrapped(text, '  '),
      ...(copy === undefined ? [] : [`    ${paint('bold', withCommands(copy, here))}`]),
    ]),
  ]
}

function differenceLines({ differences }: ShownResource, paint: Paint): readonly string[] {
  if (differences.length === 0) return []
  return [
    '',
    'Fields that differ:',
    ...differences.flatMap(({ field, desired, observed }) => [
      `  ${paint('bold', field)}`,
      `    manifest  ${paint('green', desired)}`,
      `    platform  ${paint('red', observed)}`,
    ]),
  ]
}

function attemptLine({ attempt, state, openedAt, id, seen }: Intent): string {
  const reply = [
    ...(seen?.requestId === undefined ? [] : [`request ${seen.requestId}`]),
    ...(seen?.httpStatus === undefined ? [] : [`HTTP ${seen.httpStatus}`]),
  ]
  return [`${attempt}, ${state}`, new Date(openedAt).toISOString(), `intent ${id}`, ...reply].join(', ')
}

export function closingWords(resources: readonly ShownResource[], isOld = false): string {
  const count = resources.length
  const troubled = resources.filter((resource) => !isWell(resource)).length
  const some = troubled === 0 ? 'none' : troubled
  const unjudged = resources.filter(
    (resource) => isWell(resource) && resource.conditions.Ready.reason === 'NotJudged',
  )
  return [
    isOld
      ? `As recorded, ${some} of ${count} needed attention.`
      : count === 1 && troubled === 0
        ? 'It needs no attention.'
        : `${capital(String(some))} of ${count} ${troubled > 1 ? 'need' : 'needs'} attention.`,
    ...(unjudged.length === 0
      ? []
      : [
          `${unjudged.length} ${unjudged.length === 1 ? 'is' : 'are'} in a state of unknown health (${namedKeys(unjudged)}): list the healthy states in --healthy-states or policy.healthyStates.`,
        ]),
  ].join(' ')
}
