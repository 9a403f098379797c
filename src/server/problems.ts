import type { FastifyInstance } from 'fastify'
import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import { isWell, STATUSES, type Status } from '../plan/severity.ts'
import { REASONS, wordsOf, type Reason } from '../plan/reason.ts'
import { causeOf, groupByCause } from '../contract/cause.ts'
import { bodyIn, sinceOf, type ResourceStatus } from '../contract/status.ts'
import { commandLine, commandsTyped, contextOf, type CommandContext } from './command-line.ts'
import { nextSteps, placeOf, shortMessage, type NextStep, type StepContext } from './remedy.ts'
import { type Answers, sendJson } from './api/answers.ts'
import { filtered, findingsSelected, NARROWING, type Narrowing, narrowingOf } from './api/selection.ts'
import { nextPage, type Part, partOf, pickedOf, type Query } from './parameters.ts'
import type { Overview, ServerParts } from './parts.ts'

/** Keys that one entry names. */
const KEYS_NAMED = 12

/** Findings shown with one resource. */
const FINDINGS_SHOWN = 3

/** Something that is not well, and that somebody has to look at. Times are ms since the epoch. */
export interface Problem {
  /** The same as long as it is the same problem. */
  readonly id: string
  /** The status of its resources; `Source` and `Daemon` are about the whole. */
  readonly status: Status | 'Source' | 'Daemon'
  readonly reason: Reason | undefined
  /** What it is, in a few words. */
  readonly what: string
  /** What happened and why; what to do about it is in `next`. */
  readonly message: string
  readonly since: number | undefined
  /** The resources it is about: the first of them. */
  readonly keys: readonly Key[]
  /** How many there are. */
  readonly count: number
  readonly service: string | undefined
  readonly file: string | undefined
  readonly line: number | undefined
  /** At which the manifest, the first of several, came to say what it says. */
  readonly revision: string | undefined
  readonly differences: ResourceStatus['differences']
  readonly findings: readonly Finding[]
  readonly next: readonly NextStep[]
}

/** Of `GET /api/v1/attention`. */
export interface AttentionReply {
  readonly items: readonly Problem[]
  /** How many there are; `items` may be a part of them. */
  readonly total: number
  /** Where the next ones are, relative to this address; undefined: there are no more. */
  readonly next: string | undefined
}

const NOTHING = {
  reason: undefined,
  since: undefined,
  keys: [],
  count: 0,
  service: undefined,
  file: undefined,
  line: undefined,
  revision: undefined,
  differences: [],
  findings: [],
} as const

const PARAMETERS = [...NARROWING, 'offset', 'limit'] as const

/** `GET /api/v1/attention`: everything that is not well, worst first; or what a query narrows it to, as in a list of resources. */
export function registerAttention(app: FastifyInstance, parts: ServerParts, answers: Answers): void {
  app.get<{ Querystring: Query }>('/api/v1/attention', async (request, reply) => {
    const query = pickedOf(request.query, PARAMETERS)
    const part = partOf(query, { least: 1, absent: 100 })
    const narrowing = narrowingOf(query)
    const now = parts.overview()
    const { createLimit, sourceProblem, sourceReason, manifestsDir } = now
    const question = ['attention', query, contextOf(now), createLimit, sourceProblem, sourceReason]
    const text = answers.text([...question, manifestsDir, parts.ready()], now, () =>
      JSON.stringify(attentionOf(parts, { narrowing, part, query })),
    )
    return sendJson(reply, text)
  })
}

/** A problem whose steps are worked out when it is shown. */
type Draft = Omit<Problem, 'next'> & { readonly steps: () => readonly NextStep[] }

/**
 * What is wrong with the whole, then with resources: worst first, and of equal ones the oldest. What is wrong with the whole is
 * told whatever is asked for.
 * @param asked `query`: as it was given, for the way to the next page
 */
export function attentionOf(
  parts: Pick<ServerParts, 'board' | 'overview' | 'ready'>,
  asked: { readonly narrowing: Narrowing; readonly part: Part; readonly query: Query },
): AttentionReply {
  const { narrowing, part, query } = asked
  const overview = parts.overview()
  const context = overview
  const all = parts.board.list()
  const unwell = all.filter((resource) => !isWell(resource))
  const errors = overview.findings.filter(({ severity }) => severity === 'error')
  const findingsOf = Map.groupBy(errors, ({ key }) => key)
  const groups = groupByCause(filtered(unwell, narrowing))
  const ofResources = groups.map((group) => {
    const [first] = group
    return first !== undefined && group.length === 1
      ? oneProblem(first, findingsOf.get(first.key) ?? [], context)
      : groupProblem(group, context)
  })
  const isPart = findingsSelected(all, narrowing)
  const shown = new Set(unwell.map(({ key }) => key))
  const loose = errors.filter(
    (finding) => (finding.key === undefined || !shown.has(finding.key)) && isPart(finding),
  )
  const alone = loose.map((finding) => findingProblem(finding, context))
  const problems = [...ofTheWhole(parts), ...[...ofResources, ...alone].toSorted(worstFirst)]
  const end = part.offset + part.limit
  return {
    items: problems.slice(part.offset, end).map(problemOf),
    total: problems.length,
    next: end < problems.length ? nextPage(query, { offset: String(end) }) : undefined,
  }
}

function problemOf({ steps, ...facts }: Draft): Problem {
  return { ...facts, next: steps() }
}

function worstFirst(a: Draft, b: Draft): number {
  return rank(a) - rank(b) || (a.since ?? 0) - (b.since ?? 0) || (a.id < b.id ? -1 : 1)
}

function rank({ status }: Draft): number {
  return STATUSES.findIndex((known) => known === status)
}

function ofTheWhole(parts: Pick<ServerParts, 'board' | 'overview' | 'ready'>): readonly Draft[] {
  const overview = parts.overview()
  const { sourceProblem, sourceReason, lastLoadAt, manifestsDir } = overview
  const ready = parts.ready()
  const problems: Draft[] = []
  if (sourceProblem !== undefined) {
    problems.push({
      ...NOTHING,
      id: 'source',
      status: 'Source',
      what:
        parts.board.list().length > 0
          ? 'manifests not accepted; keeping the last state'
          : 'manifests not accepted',
      message: commandsTyped(sourceProblem, overview),
      steps: () => [
        { text: 'Check the directory, and what fills it:', copy: manifestsDir },
        ...(sourceReason === 'SourceShrunk'
          ? [
              {
                text: 'If they were removed on purpose:',
                copy: commandLine('reconcile --accept', overview),
              },
            ]
          : []),
      ],
    })
  }
  if (!ready.ok && lastLoadAt !== undefined) {
    const next = [{ text: 'Check the log of the daemon.', copy: undefined }]
    problems.push({
      ...NOTHING,
      id: 'ready',
      status: 'Daemon',
      what: 'the daemon is not ready',
      message: ready.detail,
      steps: () => next,
    })
  }
  return problems
}

function oneProblem(resource: ResourceStatus, findings: readonly Finding[], context: StepContext): Draft {
  const { key, status, reason, service, file, line, manifestRevision, differences } = resource
  return {
    id: key,
    status,
    reason,
    what: REASONS[reason].means,
    message: causeWords(resource, context),
    since: sinceOf(resource),
    keys: [key],
    count: 1,
    service,
    file,
    line,
    revision: manifestRevision,
    // In an outage they are those of an earlier reading, and perhaps of an earlier manifest.
    differences: status === 'Drifted' ? differences : [],
    findings: findings.slice(0, FINDINGS_SHOWN),
    steps: () => nextSteps(resource, context, findings),
  }
}

/** What is wrong and why. What an alert says of itself is told only while it fires, by a reading of now. */
export function causeWords(resource: ResourceStatus, context: CommandContext): string {
  const { Synced, Ready } = resource.conditions
  const fires = Synced.status !== 'Unknown' && Ready.status === 'False'
  return shortMessage(fires ? resource : { ...resource, observed: undefined }, context)
}

/** Each of them says how many there were when it was held back. */
function heldMessage(
  first: ResourceStatus,
  { createLimit, ...context }: CommandContext & Pick<Overview, 'createLimit'>,
): string {
  const { limit, services } = createLimit
  const now = services.find(({ service }) => service === first.service)
  if (now === undefined) return causeWords(first, context)
  const { service, wanted, made, until } = now
  return (
    wordsOf({ reason: 'CreateLimit', facts: { service, wanted, made, limit, until } }, first.key)?.cause ?? ''
  )
}

function groupProblem(
  group: readonly ResourceStatus[],
  context: StepContext & Pick<Overview, 'createLimit'>,
): Draft {
  const [first] = group
  if (first === undefined) throw new Error('bug: a group of nothing')
  const alike = group.every(({ message }) => message === first.message)
  return {
    ...oneProblem(first, [], context),
    id: causeOf(first),
    message:
      first.reason === 'CreateLimit'
        ? heldMessage(first, context)
        : alike
          ? causeWords(first, context)
          : `For example ${first.key}: ${causeWords(first, context)}`,
    since: Math.min(...group.map(sinceOf)),
    keys: group.slice(0, KEYS_NAMED).map(({ key }) => key),
    count: group.length,
    // An outage strikes all services alike.
    service: shared(group, ({ service }) => service),
    file: shared(group, ({ file }) => file),
    line: undefined,
    revision: shared(group, ({ manifestRevision }) => manifestRevision),
    differences: [],
    steps: () => nextSteps(first, context, []).map(exampleOf(first)),
  }
}

/** An id is that of one of them, and says of which. */
function exampleOf({ key, pipeId, observed }: ResourceStatus): (step: NextStep) => NextStep {
  const ids = new Set<unknown>([pipeId, bodyIn(observed)?.['id']])
  return ({ text, copy }) => ({
    text: copy !== undefined && ids.has(copy) ? `For example ${key}: ${text}` : text,
    copy,
  })
}

/** What all of them have in common. */
function shared<T>(group: readonly ResourceStatus[], factOf: (resource: ResourceStatus) => T): T | undefined {
  const facts = new Set(group.map(factOf))
  return facts.size === 1 ? facts.values().next().value : undefined
}

/** A document that is no resource yet, such as one whose name cannot be read. */
function findingProblem(finding: Finding, context: StepContext): Draft {
  const { file, line, column, code, message, hint } = finding
  const place = placeOf(context.manifestsDir, file, line)
  const check = commandLine('validate', context)
  return {
    ...NOTHING,
    id: `finding ${file}:${line}:${column} ${code}`,
    status: 'Invalid',
    reason: 'InvalidManifest',
    what: REASONS.InvalidManifest.means,
    message: `${message} ${hint}`,
    file,
    line,
    findings: [finding],
    steps: () => [
      { text: 'Correct it, in', copy: place },
      { text: 'To check before:', copy: check },
    ],
  }
}
