import type { ResourceView } from '../../contract/view.ts'
import { attentionText, type Card } from '../problems.ts'
import { singleOf, type Paged, pickedOf, type Query } from '../parameters.ts'
import type { ServerParts } from '../parts.ts'
import { RequestError, type ErrorReply } from '../replies.ts'
import type { Answers } from './answers.ts'
import { findingsText, type FindingsReply } from './findings.ts'
import type { OverviewReply } from './overview.ts'
import { detailsOf, listText, type ResourceReply, type ResourcesReply } from './resources.ts'
import { NARROWING } from './selection.ts'
import { historyReply, timelineText, type HistoryReply, type TimelineReply } from './timeline.ts'

const PROBLEMS_SHOWN = '30'
const HISTORY_SHOWN = '50'

export interface PageReply {
  readonly overview: OverviewReply
  readonly refused?: ErrorReply
  /** Only if the query has no `resource`. */
  readonly whole?: {
    readonly list: Pick<ResourcesReply, 'items' | 'total'>
    readonly attention: Paged<Card>
    readonly findings: FindingsReply
    readonly timeline: TimelineReply
    readonly facets: ReturnType<typeof facetsOf>
  }
  /** Only if the query has a `resource`. */
  readonly one?: { readonly resource: ResourceReply; readonly history: HistoryReply }
}

export async function pageText(
  parts: ServerParts,
  answers: Answers,
  overview: OverviewReply,
  query: Query,
): Promise<string> {
  const head = `{"overview":${JSON.stringify(overview)}`
  try {
    const key = singleOf(query, 'resource')
    if (key === undefined) return `${head},"whole":${await wholeText(parts, answers, query)}}`
    const resource = detailsOf(parts, key)
    const history = await historyReply(parts, { key, limit: HISTORY_SHOWN })
    return `${head},"one":${JSON.stringify({ resource, history })}}`
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const refused = { error: error.message, hint: error.hint } satisfies ErrorReply
    return `${head},"refused":${JSON.stringify(refused)}}`
  }
}

async function wholeText(parts: ServerParts, answers: Answers, query: Query): Promise<string> {
  const narrowed = pickedOf(query, NARROWING)
  const { story, entries } = query
  const [list, attention, findings, timeline, facets] = [
    listText(parts, answers, query),
    attentionText(parts, answers, { ...narrowed, limit: PROBLEMS_SHOWN }),
    findingsText(parts, answers, narrowed),
    await timelineText(parts, answers, { ...narrowed, type: story, limit: entries }),
    answers.text(['facets'], parts.overview(), () => JSON.stringify(facetsOf(parts.board.list()))),
  ]
  return `{"list":${list},"attention":${attention},"findings":${findings},"timeline":${timeline},"facets":${facets}}`
}

const FOLDERS = 20

const VALUES = 200

export interface Facet {
  readonly value: string
  readonly count: number
}

function facetsOf(resources: readonly ResourceView[]) {
  return {
    kinds: countValues(resources.map(({ kind }) => kind)),
    services: countValues(resources.flatMap(({ service }) => service ?? [])),
    labels: countValues(
      resources.flatMap(({ labels }) => Object.entries(labels).map(([name, value]) => `${name}=${value}`)),
    ),
    files: countValues(resources.flatMap(({ file }) => (file === undefined ? [] : withFolders(file)))),
    reasons: countValues(resources.map(({ reason }) => reason)),
  }
}

function countValues(values: readonly string[]): readonly Facet[] {
  return [...Map.groupBy(values, (value) => value)]
    .map(([value, { length: count }]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, VALUES)
    .toSorted((a, b) => (a.value < b.value ? -1 : 1))
}

function withFolders(file: string): readonly string[] {
  const paths = [file]
  for (let end = file.indexOf('/'); end !== -1 && paths.length <= FOLDERS; end = file.indexOf('/', end + 1))
    paths.push(file.slice(0, end))
  return paths
}
