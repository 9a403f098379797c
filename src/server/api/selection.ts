import type { Finding } from '../../kinds/finding.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import { RESOURCE_KINDS } from '../../kinds/lookup.ts'
import { REASONS, type Reason } from '../../plan/reason.ts'
import { isWell, STATUSES } from '../../plan/severity.ts'
import { sinceOf, type ResourceStatus } from '../../contract/status.ts'
import { oneOf, textsOf, wordsOf, type Query } from '../parameters.ts'
import type { FastifyInstance } from 'fastify'
import type { ServerParts } from '../parts.ts'

const SORTS = ['key', 'status', 'kind', 'reason', 'service', 'file', 'state', 'since'] as const

export type Sort = (typeof SORTS)[number]

const REASON_NAMES = Object.keys(REASONS) as readonly Reason[] // the keys of an object literal

/**
 * The resources that a query asks for, in its order. `kind`, `status`, `reason`, `service`: one or a comma list.
 * `well=false`: what somebody has to look at. `label`: `name=value` or `name`, all that are given. `file`: a file or a
 * folder. `q`: a text anywhere in what people read; several words must all be there.
 * @throws {RequestError} 400
 */
export function selected(all: readonly ResourceStatus[], query: Query): readonly ResourceStatus[] {
  return sorted(filtered(all, query), query)
}

/** The parameters that narrow a list. */
const NARROWING = ['kind', 'status', 'reason', 'well', 'service', 'label', 'file', 'q'] as const

/** Whether a query asks for less than everything. */
export function isNarrowed(query: Query): boolean {
  return NARROWING.some((name) => textsOf(query, name).length > 0)
}

/**
 * Whether a key is among what a query asks for; also one that is no longer there, of which the kind and the name are known.
 * @throws {RequestError} 400
 */
export function keysSelected(all: readonly ResourceStatus[], query: Query): (key: Key) => boolean {
  const known = new Set(all.map(({ key }) => key))
  const keys = new Set(filtered(all, query).map(({ key }) => key))
  const kinds = wordsOf(query, 'kind', RESOURCE_KINDS)
  const words = searchWords(query)
  const others = NARROWING.filter((name) => name !== 'kind' && name !== 'q')
  const isByName = others.every((name) => textsOf(query, name).length === 0)
  return (key) => {
    if (known.has(key)) return keys.has(key)
    const isOfKind = kinds?.has(kindOf(key)) ?? true
    return isByName && isOfKind && hasAll(key.toLowerCase(), words)
  }
}

/** Whether a finding is of a resource that a query asks for; one of no resource has a file and a text, and nothing else. */
export function findingsSelected(
  all: readonly ResourceStatus[],
  query: Query,
): (finding: Finding) => boolean {
  if (!isNarrowed(query)) return () => true
  const known = new Set(all.map(({ key }) => key))
  const keys = new Set(filtered(all, query).map(({ key }) => key))
  const isOther = NARROWING.some((name) => name !== 'q' && name !== 'file' && textsOf(query, name).length > 0)
  const words = searchWords(query)
  const folder = oneOf(query, 'file')?.replace(/\/$/, '')
  return ({ key, file, message, code }) =>
    key !== undefined && known.has(key)
      ? keys.has(key)
      : !isOther &&
        (folder === undefined || file === folder || file.startsWith(`${folder}/`)) &&
        hasAll(`${file} ${message} ${code}`.toLowerCase(), words)
}

/** The words of `q`, in lower case. */
export function searchWords(query: Query): readonly string[] {
  return (oneOf(query, 'q') ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}

/** Whether a text in lower case holds all of these words. */
export function hasAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word))
}

type Test = (resource: ResourceStatus) => boolean

function filtered(all: readonly ResourceStatus[], query: Query): readonly ResourceStatus[] {
  const tests: Test[] = []
  const kinds = wordsOf(query, 'kind', RESOURCE_KINDS)
  if (kinds !== undefined) tests.push(({ kind }) => kinds.has(kind))
  const statuses = wordsOf(query, 'status', STATUSES)
  if (statuses !== undefined) tests.push(({ status }) => statuses.has(status))
  const reasons = wordsOf(query, 'reason', REASON_NAMES)
  if (reasons !== undefined) tests.push(({ reason }) => reasons.has(reason))
  const well = wordsOf(query, 'well', ['true', 'false'])
  if (well !== undefined) tests.push((resource) => well.has(isWell(resource) ? 'true' : 'false'))
  const services = new Set(textsOf(query, 'service').flatMap((text) => text.split(',')))
  if (services.size > 0) tests.push(({ service }) => service !== undefined && services.has(service))
  for (const label of textsOf(query, 'label')) tests.push(hasLabel(label))
  const file = oneOf(query, 'file')
  if (file !== undefined) tests.push(isIn(file.replace(/\/$/, '')))
  const words = searchWords(query)
  if (words.length > 0) tests.push((resource) => hasWords(resource, words))
  return tests.length === 0 ? all : all.filter((resource) => tests.every((test) => test(resource)))
}

function hasLabel(label: string): Test {
  const at = label.indexOf('=')
  const [name, value] = at === -1 ? [label, undefined] : [label.slice(0, at), label.slice(at + 1)]
  return ({ labels }) => Object.hasOwn(labels, name) && (value === undefined || labels[name] === value)
}

function isIn(path: string): Test {
  return ({ file }) => file !== undefined && (file === path || file.startsWith(`${path}/`))
}

/** Statuses are replaced, never changed: what is worked out for one stays right. */
const searchTexts = new WeakMap<ResourceStatus, string>()

function hasWords(resource: ResourceStatus, words: readonly string[]): boolean {
  const known = searchTexts.get(resource)
  const text = known ?? searchText(resource)
  if (known === undefined) searchTexts.set(resource, text)
  return hasAll(text, words)
}

function searchText(resource: ResourceStatus): string {
  const { key, status, reason, message, file, service, pipeId, state, labels, manifestRevision } = resource
  const words = [key, status, reason, message, file, service, pipeId, state, manifestRevision]
  return [...words, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)]
    .join('\n')
    .toLowerCase()
}

type Order = (a: ResourceStatus, b: ResourceStatus) => number

/** What is equal stays in the order of the keys. */
const ORDERS: Readonly<Record<Sort, Order>> = {
  key: (a, b) => compareTexts(a.key, b.key),
  status: (a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status),
  kind: (a, b) => RESOURCE_KINDS.indexOf(a.kind) - RESOURCE_KINDS.indexOf(b.kind),
  reason: (a, b) => compareTexts(a.reason, b.reason),
  service: (a, b) => compareTexts(a.service, b.service),
  file: (a, b) => compareTexts(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0),
  state: (a, b) => compareTexts(a.state, b.state),
  since: (a, b) => sinceOf(b) - sinceOf(a),
}

/** `sort=status`: worst first. `sort=since`: what changed last first. `order=desc`: the other way round. */
function sorted(resources: readonly ResourceStatus[], query: Query): readonly ResourceStatus[] {
  const [sort] = wordsOf(query, 'sort', SORTS) ?? ['key' as const]
  const down = wordsOf(query, 'order', ['asc', 'desc'])?.has('desc') ?? false
  const order = ORDERS[sort ?? 'key']
  if (sort === 'key' && !down) return resources
  return resources.toSorted(down ? (a, b) => order(b, a) : order)
}

/** Absent ones come last. */
function compareTexts(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b ? -1 : 1
}

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
export function registerFacets(app: FastifyInstance, parts: ServerParts): void {
  app.get('/api/v1/facets', () => facetsOf(parts.board.list()))
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

/** `a/b/c.yaml` counts for `a` and `a/b` too. */
function withFolders(files: Counter): Counter {
  const all = new Counter()
  for (const [file, count] of files.counts) {
    for (let at = file.indexOf('/'); at !== -1; at = file.indexOf('/', at + 1))
      all.add(file.slice(0, at), count)
    all.add(file, count)
  }
  return all
}
