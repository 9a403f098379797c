import { sentence } from '../../plan/reasons/row.ts'
import { shortRevision } from '../../contract/revision.ts'
import type { FastifyInstance } from 'fastify'
import type { Finding } from '../../kinds/finding.ts'
import { withoutManifestSentence, type WithoutManifest } from '../../contract/without-manifest.ts'
import { commandsTyped } from '../command-line.ts'
import type { Health, Overview, ServerParts } from '../parts.ts'
import type { LastReading } from '../recent-events.ts'
import { isUpserted } from '../../kinds/lookup.ts'
import { isWell, STATUSES, type Status } from '../../plan/severity.ts'
import type { ResourceStatus } from '../../contract/status.ts'

/** Findings in an overview; `/api/v1/findings` has the others. */
const FINDINGS_SHOWN = 100

/** Of `GET /api/v1/overview`. */
export interface OverviewReply extends Omit<Overview, 'withoutManifest'> {
  /** Services with pipes that no manifest holds, each with a sentence. Undefined: the platform does not list its pipes. */
  readonly withoutManifest: readonly (WithoutManifest & { readonly message: string })[] | undefined
  readonly verdict: Verdict
  readonly ready: Health
  /** Whether the page can ask for a check or let creations pass: there is an admin token. */
  readonly acts: boolean
  /** Resources by status. */
  readonly counts: Counts
  readonly findingCounts: FindingCounts
  readonly lastReading: LastReading | undefined
  /** Why the directory is watched in this way, in words. */
  readonly watchMessage: string | undefined
  /** Changes that no watcher event announced, since the daemon started. */
  readonly missedChanges: number
}

/** The whole at a glance; of the findings the first hundred, errors first. What only a change changes is worked out once for each. */
export function createOverview(parts: ServerParts): () => OverviewReply {
  const { board, recentEvents } = parts
  let known: { readonly version: number; readonly counts: Counts; readonly unjudged: number } | undefined

  function countsNow() {
    if (known?.version === board.version) return known
    const resources = board.list()
    known = { version: board.version, counts: countStatuses(resources), unjudged: countUnjudged(resources) }
    return known
  }

  return () => {
    const now = parts.overview()
    const overview = { ...now, sourceProblem: now.sourceProblem && commandsTyped(now.sourceProblem, now) }
    const ready = parts.ready()
    const { counts, unjudged } = countsNow()
    const { findings } = overview
    return {
      ...overview,
      withoutManifest: now.withoutManifest?.map((each) => ({
        ...each,
        message: commandsTyped(withoutManifestSentence(each), now),
      })),
      findings: firstErrors(findings, FINDINGS_SHOWN),
      findingCounts: countFindings(findings),
      ready,
      acts: parts.reconcile !== undefined && parts.allow !== undefined,
      counts,
      verdict: judge(counts, { overview, ready, unjudged }),
      lastReading: recentEvents.lastReading,
      watchMessage: recentEvents.watch?.message,
      missedChanges: recentEvents.missedChanges,
    }
  }
}

/** `GET /api/v1/overview`. */
export function registerOverview(app: FastifyInstance, overviewOf: () => OverviewReply): void {
  app.get('/api/v1/overview', (): OverviewReply => overviewOf())
}

export interface FindingCounts {
  readonly error: number
  readonly warning: number
}

export function countFindings(findings: readonly Finding[]): FindingCounts {
  const error = findings.filter(({ severity }) => severity === 'error').length
  return { error, warning: findings.length - error }
}

/** Errors first. */
function firstErrors(findings: readonly Finding[], most: number): readonly Finding[] {
  const first = findings.filter(({ severity }) => severity === 'error').slice(0, most)
  if (first.length === most) return first
  const others = findings.filter(({ severity }) => severity !== 'error')
  return [...first, ...others.slice(0, most - first.length)]
}

export type Counts = Readonly<Record<Status, number>>

/** Does anything need attention? In a sentence, and for machines. */
export interface Verdict {
  readonly level: 'well' | 'waiting' | 'unwell'
  readonly sentence: string
}

export function countStatuses(resources: readonly ResourceStatus[]): Counts {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number> // of the same list
  for (const { status } of resources) counts[status] += 1
  return counts
}

/** Resources that are Ready although nothing says whether their state is healthy; one without states has none to judge. */
export function countUnjudged(resources: readonly ResourceStatus[]): number {
  return resources.filter(
    ({ key, status, conditions }) =>
      status === 'Ready' && conditions.Ready.reason === 'NotJudged' && !isUpserted(key),
  ).length
}

/** What a verdict is made of, beside the counts. */
interface Known {
  readonly overview: Overview
  readonly ready: Health
  /** As {@link countUnjudged}. */
  readonly unjudged: number
}

/** The first sentence of the page: what is wrong with the whole, then with how many resources. */
export function judge(counts: Counts, { overview, ready, unjudged }: Known): Verdict {
  const total = sum(counts, STATUSES)
  const unwell = sum(
    counts,
    STATUSES.filter((status) => !isWell({ status })),
  )
  const errors = overview.findings.filter(({ severity }) => severity === 'error').length
  const unconfirmed = overview.standsBy ? undefined : overview.unconfirmed
  const wrong = [
    unconfirmed === undefined ? '' : `Nothing is created or changed: ${unconfirmed}`,
    overview.olderThan === undefined ? '' : olderSentence(overview.olderThan),
    overview.putBack === undefined ? '' : sentence(overview.putBack).slice(0, -1),
    overview.sourceProblem === undefined ? '' : sourceSentence(overview.sourceProblem, total > 0),
    overview.createLimit.on ? limitSentence(overview.createLimit) : '',
    unwell > 0
      ? `${unwell} of ${plural(total, 'resource')} ${unwell === 1 ? 'needs' : 'need'} attention`
      : '',
    errors > 0 ? `${plural(errors, 'error')} in manifests` : '',
  ].filter((text) => text !== '')
  if (wrong.length > 0) return { level: 'unwell', sentence: `${wrong.join('. ')}.` }

  if (overview.lastLoadAt === undefined) {
    return { level: 'waiting', sentence: 'Starting: the manifests were not read yet.' }
  }
  if (!ready.ok) return { level: 'waiting', sentence: `Not ready: ${ready.detail}.` }
  if (total === 0) return { level: 'waiting', sentence: 'Nothing to do: there are no resources.' }
  if (counts.Progressing > 0) {
    const rest = unjudged > 0 ? `; ${unjudged} in a state that nobody judged` : ', and nothing is wrong'
    return {
      level: 'waiting',
      sentence: `${counts.Progressing} of ${plural(total, 'resource')} in progress${rest}.`,
    }
  }
  if (overview.overdue > 0) {
    return {
      level: 'waiting',
      sentence: `${overview.overdue} of ${plural(total, 'resource')} not checked yet since the daemon started.`,
    }
  }
  const quiet = [
    counts.Suspended > 0 ? `${counts.Suspended} of them suspended` : '',
    unjudged > 0 ? `${unjudged} of them in a state that nobody judged` : '',
  ].filter((text) => text !== '')
  return { level: 'well', sentence: `All is well: ${[plural(total, 'resource'), ...quiet].join(', ')}.` }
}

/** What waits, and in which service; of several, how many these are. */
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

/** Longer ones are told in full below the first sentence. */
const LONGEST_IN_SENTENCE = 60

/** @param hasState whether there is a last state */
function sourceSentence(problem: string, hasState: boolean): string {
  const what = problem.length > LONGEST_IN_SENTENCE ? 'Manifests not accepted' : problem.replace(/\.$/, '')
  return hasState ? `${what}; keeping the last state` : what
}

function sum(counts: Counts, statuses: readonly Status[]): number {
  return statuses.reduce((total, status) => total + counts[status], 0)
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function olderSentence(olderThan: string): string {
  return `Another process acted on revision ${shortRevision(olderThan)}, which may be newer than the manifests here: nothing counts as removed, and nothing is adopted`
}
