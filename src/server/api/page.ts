import type { ResourceView } from '../../contract/view.ts'
import { attentionReply } from '../problems.ts'
import { singleOf, pickedOf, type Query } from '../parameters.ts'
import type { ServerParts } from '../parts.ts'
import { RequestError, type ErrorReply } from '../replies.ts'
import { findingsReply, type OverviewReply } from './overview.ts'
import { detailsOf, listReply, type ResourceReply } from './resources.ts'
import { NARROWING } from './selection.ts'
import { historyReply, timelineReply, type HistoryReply } from './timeline.ts'

const PROBLEMS_SHOWN = '30'
const HISTORY_SHOWN = '50'

export interface PageReply {
  readonly overview: OverviewReply
  readonly refused?: ErrorReply
  /** Only if the query has no `resource`. */
  readonly whole?: Awaited<ReturnType<typeof wholeReply>>
  /** Only if the query has a `resource`. */
  readonly one?: { readonly resource: ResourceReply; readonly history: HistoryReply }
}

export async function pageReply(
  parts: ServerParts,
  overview: OverviewReply,
  query: Query,
): Promise<PageReply> {
  try {
    const key = singleOf(query, 'resource')
    if (key === undefined) return { overview, whole: await wholeReply(parts, query) }
    const resource = detailsOf(parts, key)
    return { overview, one: { resource, history: await historyReply(parts, { key, limit: HISTORY_SHOWN }) } }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { overview, refused: { error: error.message, hint: error.hint } }
  }
}

async function wholeReply(parts: ServerParts, query: Query) {
  const narrowed = pickedOf(query, NARROWING)
  const { story, entries } = query
  return {
    list: listReply(parts, query),
    attention: attentionReply(parts, { ...narrowed, limit: PROBLEMS_SHOWN }),
    findings: findingsReply(parts, narrowed),
    timeline: await timelineReply(parts, { ...narrowed, type: story, limit: entries }),
    facets: facetsOf(parts.board.list()),
  }
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
