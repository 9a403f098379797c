import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import { sameJson } from '../lib/json.ts'
import { isWell, STATUSES, type Status } from '../plan/severity.ts'
import { REASONS, type Reason } from '../plan/reason.ts'
import { bodyIn, type ResourceView } from '../contract/view.ts'
import { type StepContext, placeOf, withCommands } from '../plan/step.ts'
import { nextSteps, type NextStep, causeOfView } from './shown-resource.ts'
import { filtered, findingsSelected, NARROWING, type Narrowing, narrowingOf } from './api/selection.ts'
import { paged, type Paged, type Part, partOf, pickedOf, type Query } from './parameters.ts'
import type { Overview, ServerParts } from './parts.ts'

const KEYS_NAMED = 12

const FINDINGS_SHOWN = 3

/** Times are ms since the epoch. */
export interface Card {
  readonly id: string
  /** `Source` and `Daemon`: a problem of the directory or the daemon, not of a resource. */
  readonly status: Status | 'Source' | 'Daemon'
  readonly reason: Reason | undefined
  readonly what: string
  readonly message: string
  readonly since: number | undefined
  readonly keys: readonly Key[]
  readonly count: number
  readonly service: string | undefined
  readonly file: string | undefined
  readonly line: number | undefined
  readonly revision: string | undefined
  readonly differences: ResourceView['differences']
  readonly findings: readonly Finding[]
  readonly next: readonly NextStep[]
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

export function attentionReply(parts: ServerParts, given: Query): Paged<Card> {
  const query = pickedOf(given, PARAMETERS)
  return attentionOf(parts, { narrowing: narrowingOf(query), part: partOf(query), query })
}

type Draft = Omit<Card, 'next'> & { readonly steps: () => readonly NextStep[] }

/** No filter hides problems of directory and daemon. */
export function attentionOf(
  parts: ServerParts,
  asked: { readonly narrowing: Narrowing; readonly part: Part; readonly query: Query },
): Paged<Card> {
  const { narrowing, part, query } = asked
  const overview = parts.overview()
  const all = parts.board.list()
  const unwell = all.filter((resource) => !isWell(resource))
  const errors = overview.findings.filter(({ severity }) => severity === 'error')
  const findingsOf = Map.groupBy(errors, ({ key }) => key)
  const groups = Map.groupBy(filtered(unwell, narrowing), ({ key }) => parts.problem(key))
  const ofResources = [...groups].flatMap(([problem, [first, ...others]]): readonly Draft[] => {
    if (problem === undefined || first === undefined) return []
    const findings = others.length === 0 ? (findingsOf.get(first.key) ?? []) : []
    return [resourceProblem(problem, [first, ...others], findings, parts.commands)]
  })
  const isPart = findingsSelected(all, narrowing)
  const shown = new Set(unwell.map(({ key }) => key))
  const loose = errors.filter(
    (finding) => (finding.key === undefined || !shown.has(finding.key)) && isPart(finding),
  )
  const alone = loose.map((finding) => findingProblem(finding, parts.commands))
  const worstFirst = [...ofResources, ...alone].toSorted(
    (a, b) => rank(a) - rank(b) || (a.since ?? 0) - (b.since ?? 0),
  )
  const problems = [...ofTheWhole(parts, overview), ...worstFirst]
  const page = paged(problems, part, query)
  return { ...page, items: page.items.map(({ steps, ...facts }) => ({ ...facts, next: steps() })) }
}

function rank({ status }: Draft): number {
  return STATUSES.findIndex((known) => known === status)
}

function ofTheWhole(parts: ServerParts, overview: Overview): readonly Draft[] {
  const { sourceProblem, sourceReason, lastLoadAt, manifestsDir } = overview
  const ready = parts.ready()
  const copy = withCommands('pipewright reconcile --accept', parts.commands)
  const accept = { text: 'If the manifests were removed on purpose:', copy }
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
      message: sourceProblem,
      steps: () => [
        { text: 'Check the directory and the program that fills it:', copy: manifestsDir },
        ...(sourceReason === 'SourceShrunk' ? [accept] : []),
      ],
    })
  }
  if (!ready.ok && lastLoadAt !== undefined)
    problems.push({
      ...NOTHING,
      id: 'ready',
      status: 'Daemon',
      what: 'the daemon is not ready',
      message: ready.detail,
      steps: () => [{ text: 'Check the log of the daemon.', copy: undefined }],
    })
  return problems
}

function resourceProblem(
  { id, since }: Pick<Draft, 'id' | 'since'>,
  group: readonly [ResourceView, ...ResourceView[]],
  findings: readonly Finding[],
  context: StepContext,
): Draft {
  const [first] = group
  const { key, status, reason } = first
  const isOne = group.length === 1
  const isAlike = group.every(({ because }) => sameJson(because, first.because))
  const cause = causeOfView(first)
  return {
    id,
    status,
    reason,
    what: REASONS[reason].means,
    message: isAlike ? cause : `For example ${key}: ${cause}`,
    since,
    keys: group.slice(0, KEYS_NAMED).map((one) => one.key),
    count: group.length,
    service: shared(group, ({ service }) => service),
    file: shared(group, ({ file }) => file),
    line: isOne ? first.line : undefined,
    revision: shared(group, ({ manifestRevision }) => manifestRevision),
    // With another status, the differences might be from an earlier manifest.
    differences: isOne && status === 'Drifted' ? first.differences : [],
    findings: findings.slice(0, FINDINGS_SHOWN),
    steps() {
      const steps = nextSteps(first, context, findings)
      return isOne ? steps : steps.map(exampleOf(first))
    },
  }
}

function exampleOf({ key, pipeId, reply }: ResourceView): (step: NextStep) => NextStep {
  const ids = new Set<unknown>([pipeId, bodyIn(reply)?.['id']])
  return ({ text, copy }) => ({
    text: copy !== undefined && ids.has(copy) ? `For example ${key}: ${text}` : text,
    copy,
  })
}

function shared<T>(group: readonly ResourceView[], factOf: (resource: ResourceView) => T): T | undefined {
  const facts = new Set(group.map(factOf))
  return facts.size === 1 ? facts.values().next().value : undefined
}

function findingProblem(finding: Finding, context: StepContext): Draft {
  const { file, line, column, code, message, hint } = finding
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
      { text: 'Correct it, in', copy: placeOf(context.manifestsDir, file, line) },
      { text: 'To check before:', copy: withCommands('pipewright validate', context) },
    ],
  }
}
