import type { FastifyInstance } from 'fastify'
import type { ResourceStatus } from '../../contract/status.ts'
import type { ServerParts } from '../parts.ts'
import { sendJson, type Answers } from './answers.ts'

/** Values of one facet; of more, the most frequent. */
const VALUES = 200

/** A value that resources can be filtered by. */
export interface Facet {
  readonly value: string
  /** Resources that have it. */
  readonly count: number
}

/** Of `GET /api/v1/facets`. */
export interface FacetsReply {
  readonly kinds: readonly Facet[]
  readonly services: readonly Facet[]
  /** As `name=value`. */
  readonly labels: readonly Facet[]
  /** Files and the folders above them. */
  readonly files: readonly Facet[]
  readonly reasons: readonly Facet[]
}

/** `GET /api/v1/facets`: what a list can be filtered by, in the order of the values; at most 200 of each. */
export function registerFacets(app: FastifyInstance, parts: ServerParts, answers: Answers): void {
  app.get('/api/v1/facets', async (_request, reply) =>
    sendJson(
      reply,
      answers.text(['facets'], parts.overview(), () => JSON.stringify(facetsOf(parts.board.list()))),
    ),
  )
}

function facetsOf(resources: readonly ResourceStatus[]): FacetsReply {
  const [kinds, services, labels] = [new Counter(), new Counter(), new Counter()]
  const [files, reasons] = [new Counter(), new Counter()]
  for (const { kind, service, labels: own, file, reason } of resources) {
    kinds.add(kind, 1)
    if (service !== undefined) services.add(service, 1)
    for (const name in own) labels.add(`${name}=${own[name]}`, 1)
    if (file !== undefined) files.add(file, 1)
    reasons.add(reason, 1)
  }
  return {
    kinds: kinds.facets(),
    services: services.facets(),
    labels: labels.facets(),
    files: withFolders(files).facets(),
    reasons: reasons.facets(),
  }
}

/** Counts values. It truly holds state: thousands of resources are counted at each call. */
class Counter {
  readonly counts = new Map<string, number>()

  add(value: string, count: number): void {
    this.counts.set(value, (this.counts.get(value) ?? 0) + count)
  }

  facets(): readonly Facet[] {
    return [...this.counts]
      .map(([value, count]) => ({ value, count }))
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, VALUES)
      .toSorted((a, b) => (a.value < b.value ? -1 : 1))
  }
}

/** `a/b/c.yaml` counts for `a` and `a/b` too. Each folder is counted once, deepest first, however many files are below it. */
function withFolders(files: Counter): Counter {
  const all = new Counter()
  const levels: Counter[] = []
  for (const [file, count] of files.counts) {
    all.add(file, count)
    addFolderOf(file, count, levels)
  }
  for (let level = levels.length - 1; level > 0; level -= 1) {
    for (const [folder, count] of levels[level]?.counts ?? []) {
      all.add(folder, count)
      addFolderOf(folder, count, levels)
    }
  }
  return all
}

/** @param levels folders by how many names lead to them */
function addFolderOf(path: string, count: number, levels: Counter[]): void {
  const end = path.lastIndexOf('/')
  if (end === -1) return
  const folder = path.slice(0, end)
  const level = folder.split('/').length
  for (let next = levels.length; next <= level; next += 1) levels.push(new Counter())
  levels[level]?.add(folder, count)
}
