import type { FastifyInstance } from 'fastify'
import type { ResourceStatus } from '../../contract/status.ts'
import type { ServerParts } from '../parts.ts'
import { sendJson, type Answers } from './answers.ts'

/** Of one file. */
const FOLDERS = 20

/** The most frequent. */
const VALUES = 200

export interface Facet {
  readonly value: string
  readonly count: number
}

export interface FacetsReply {
  readonly kinds: readonly Facet[]
  readonly services: readonly Facet[]
  /** As `name=value`. */
  readonly labels: readonly Facet[]
  /** Files and their folders. */
  readonly files: readonly Facet[]
  readonly reasons: readonly Facet[]
}

/** `GET /api/v1/facets`: filter values in order; at most 200 of each. */
export function registerFacets(app: FastifyInstance, parts: ServerParts, answers: Answers): void {
  app.get('/api/v1/facets', async (_request, reply) =>
    sendJson(
      reply,
      answers.text(['facets'], parts.overview(), () => JSON.stringify(facetsOf(parts.board.list()))),
    ),
  )
}

function facetsOf(resources: readonly ResourceStatus[]): FacetsReply {
  return {
    kinds: facets(resources.map(({ kind }) => kind)),
    services: facets(resources.flatMap(({ service }) => service ?? [])),
    labels: facets(
      resources.flatMap(({ labels }) => Object.entries(labels).map(([name, value]) => `${name}=${value}`)),
    ),
    files: facets(resources.flatMap(({ file }) => (file === undefined ? [] : withFolders(file)))),
    reasons: facets(resources.map(({ reason }) => reason)),
  }
}

function facets(values: readonly string[]): readonly Facet[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts]
    .map(([value, count]) => ({ value, count }))
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
