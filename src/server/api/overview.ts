import { sentence } from '../../plan/reasons/row.ts'
import { shortRevision } from '../../contract/catalog.ts'
import { withoutManifestSentence } from '../../contract/activity.ts'
import { withCommands } from '../../plan/step.ts'
import type { Health, Overview, ServerParts } from '../parts.ts'
import { isUpserted } from '../../kinds/lookup.ts'
import { isWell, STATUSES, type Status } from '../../plan/severity.ts'
import type { ResourceView } from '../../contract/view.ts'
import type { Finding } from '../../kinds/finding.ts'
import {
  singleOf,
  paged,
  type Paged,
  partOf,
  pickedOf,
  wellFormedKey,
  wordsOf,
  type Query,
} from '../parameters.ts'
import { findingsSelected, NARROWING, narrowingOf } from './selection.ts'

const FINDINGS_SHOWN = 100

export type OverviewReply = ReturnType<ReturnType<typeof createOverview>>

export function createOverview(parts: ServerParts) {
  const { board, recentEvents } = parts
  return () => {
    const overview = parts.overview()
    const ready = parts.ready()
    const counts = countStatuses(board.list())
    const unjudged = countUnjudged(board.list())
    const { findings } = overview
    return {
      ...overview,
      withoutManifest: overview.withoutManifest?.map((each) => ({
        ...each,
        message: withCommands(withoutManifestSentence(each), parts.commands),
      })),
      findings: errorsFirst(findings).slice(0, FINDINGS_SHOWN),
      findingCounts: countFindings(findings),
      ready,
      /** Whether the buttons of the page work: they need an admin token. */
      acts: parts.operator.adminToken !== undefined,
      counts,
      verdict: judge(counts, { overview, ready, unjudged }),
      lastReading: recentEvents.lastReading,
      watchMessage: recentEvents.watch?.message,
      /** Number of reads since the daemon started that found changes which the watcher had missed. */
      missedChanges: recentEvents.missedChanges,
    }
  }
}

type Counts = Readonly<Record<Status, number>>

export function countStatuses(resources: readonly ResourceView[]): Counts {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number> // of the same list
  for (const { status } of resources) counts[status] += 1
  return counts
}

export function countUnjudged(resources: readonly ResourceView[]): number {
  return resources.filter(
    ({ key, status, conditions }) =>
      status === 'Ready' && conditions.Ready.reason === 'NotJudged' && !isUpserted(key),
  ).length
}

/** The page's headline. Problems of the daemon and the directory come before those of resources. */
export function judge(
  counts: Counts,
  {
    overview,
    ready,
    unjudged,
  }: { readonly overview: Overview; readonly ready: Health; readonly unjudged: number },
): { readonly level: 'well' | 'waiting' | 'unwell'; readonly sentence: string } {
  const total = sum(counts, STATUSES)
  const unwell = sum(
    counts,
    STATUSES.filter((status) => !isWell({ status })),
  )
  const errors = countFindings(overview.findings).error
  const { unconfirmed, standsBy } = overview
  const effect = standsBy ? 'This standby might be out of date' : 'No resource is created or changed'
  const wrong = [
    unconfirmed === undefined ? '' : `${effect}: ${unconfirmed}`,
    overview.olderThan === undefined
      ? ''
      : `Another process acted on revision ${shortRevision(overview.olderThan)}. The manifests here might be older, so no removal counts and no resource is adopted`,
    overview.ledgerRollback === undefined ? '' : sentence(overview.ledgerRollback).slice(0, -1),
    overview.sourceProblem === undefined ? '' : sourceSentence(overview.sourceProblem, total > 0),
    overview.createLimit.held > 0 ? limitSentence(overview.createLimit) : '',
    unwell > 0
      ? `${unwell} of ${plural(total, 'resource')} ${unwell === 1 ? 'needs' : 'need'} attention`
      : '',
    errors > 0 ? `${plural(errors, 'error')} in manifests` : '',
  ].filter(Boolean)
  if (wrong.length > 0) return { level: 'unwell', sentence: `${wrong.join('. ')}.` }

  if (overview.lastLoadAt === undefined) {
    return { level: 'waiting', sentence: 'Starting: the manifests were not read yet.' }
  }
  if (!ready.ok) return { level: 'waiting', sentence: `Not ready: ${ready.detail}.` }
  if (total === 0) return { level: 'waiting', sentence: 'There are no resources yet.' }
  if (counts.Progressing > 0) {
    const rest = unjudged > 0 ? `; ${unjudged} with unknown health` : ', and no resource needs attention'
    return {
      level: 'waiting',
      sentence: `${counts.Progressing} of ${plural(total, 'resource')} in progress${rest}.`,
    }
  }
  if (overview.overdue > 0) {
    return {
      level: 'waiting',
      sentence: `${overview.overdue} of ${plural(total, 'resource')} not checked since the daemon started.`,
    }
  }
  const quiet = [
    counts.Suspended > 0 ? `${counts.Suspended} of them suspended` : '',
    unjudged > 0 ? `${unjudged} of them in a state of unknown health` : '',
  ].filter(Boolean)
  return { level: 'well', sentence: `No problems: ${[plural(total, 'resource'), ...quiet].join(', ')}.` }
}

function limitSentence({ services, held }: Overview['createLimit']): string {
  const [first, ...others] = services
  const where =
    first === undefined
      ? ''
      : others.length === 0
        ? ` in service ${first.service}`
        : ` in ${plural(services.length, 'service')}`
  return `Create limit reached${where}: ${plural(held, 'create')} pending`
}

/** Characters. A longer problem appears below the sentence. */
const LONGEST_IN_SENTENCE = 60

function sourceSentence(problem: string, hasState: boolean): string {
  const what = problem.length > LONGEST_IN_SENTENCE ? 'Manifests not accepted' : problem.replace(/\.$/, '')
  return hasState ? `${what}; keeping the last state` : what
}

function sum(counts: Counts, statuses: readonly Status[]): number {
  return statuses.reduce((total, status) => total + counts[status], 0)
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export interface FindingsReply extends Paged<Finding> {
  readonly counts: ReturnType<typeof countFindings>
}

export function countFindings(findings: readonly Finding[]) {
  const error = findings.filter(isError).length
  return { error, warning: findings.length - error }
}

const PARAMETERS = [...NARROWING, 'severity', 'key', 'offset', 'limit'] as const

export function findingsReply(parts: ServerParts, given: Query): FindingsReply {
  const query = pickedOf(given, PARAMETERS)
  const severities = wordsOf(query, 'severity', ['error', 'warning'])
  const text = singleOf(query, 'key')
  const key = text === undefined ? undefined : wellFormedKey(text)
  const { findings } = parts.overview()
  const isPart = findingsSelected(parts.board.list(), narrowingOf(query))
  const matching = findings.filter(
    (finding) =>
      (severities?.has(finding.severity) ?? true) &&
      (key === undefined || finding.key === key) &&
      isPart(finding),
  )
  return { ...paged(errorsFirst(matching), partOf(query), query), counts: countFindings(findings) }
}

function errorsFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => Number(isError(b)) - Number(isError(a)))
}

function isError({ severity }: Finding): boolean {
  return severity === 'error'
}
