import type { FastifyInstance } from 'fastify'
import type { ResourceStatus } from '../reconcile/status.ts'
import type { ServerParts } from './parts.ts'

/** Values of one facet; of more, the most frequent. */
const VALUES = 200

/** A value that resources can be filtered by. */
export interface Facet {
  readonly value: string
  /** Resources that have it. */
  readonly count: number
}

export interface Facets {
  readonly services: readonly Facet[]
  /** As `name=value`. */
  readonly labels: readonly Facet[]
  /** Files and the folders above them. */
  readonly files: readonly Facet[]
  readonly reasons: readonly Facet[]
}

/** `GET /api/v1/facets`: what a list can be filtered by, in the order of the values; at most 200 of each. */
export function registerFacets(app: FastifyInstance, parts: ServerParts): void {
  app.get('/api/v1/facets', () => facetsOf(parts.board.list()))
}

export function facetsOf(resources: readonly ResourceStatus[]): Facets {
  return {
    services: countValues(resources, ({ service }) => (service === undefined ? [] : [service])),
    labels: countValues(resources, ({ labels }) =>
      Object.entries(labels).map(([name, value]) => `${name}=${value}`),
    ),
    files: countValues(resources, ({ file }) => (file === undefined ? [] : pathsOf(file))),
    reasons: countValues(resources, ({ reason }) => [reason]),
  }
}

function countValues(
  resources: readonly ResourceStatus[],
  valuesOf: (resource: ResourceStatus) => readonly string[],
): readonly Facet[] {
  const counts = new Map<string, number>()
  for (const resource of resources) {
    for (const value of valuesOf(resource)) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, VALUES)
    .toSorted((a, b) => (a.value < b.value ? -1 : 1))
}

/** `a/b/c.yaml` → `a`, `a/b`, `a/b/c.yaml`. */
function pathsOf(file: string): readonly string[] {
  const parts = file.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
