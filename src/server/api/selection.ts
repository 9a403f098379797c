import type { Finding } from '../../kinds/finding.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import { RESOURCE_KINDS } from '../../kinds/lookup.ts'
import { causeOf, REASONS, type Reason } from '../../plan/reason.ts'
import { isWell, STATUSES } from '../../plan/severity.ts'
import type { ResourceView } from '../../contract/view.ts'
import { LIMITS, listOf, singleOf, searchWords, textsOf, wordsOf, type Query } from '../parameters.ts'

const SORTS = ['key', 'status', 'kind', 'reason', 'service', 'file', 'state', 'since'] as const

export type Sort = (typeof SORTS)[number]

const REASON_NAMES = Object.keys(REASONS) as readonly Reason[] // the keys of an object literal

export const NARROWING = ['kind', 'status', 'reason', 'well', 'service', 'label', 'file', 'q'] as const

export type Narrowing = Readonly<ReturnType<typeof narrowingOf>>

/**
 * `label`: `name=value` or `name`; all must match. `file`: a file or a folder. `q`: all words must occur.
 * Other parameters: a value or a comma list.
 * @throws {RequestError} 400
 */
export function narrowingOf(query: Query) {
  return {
    kinds: wordsOf(query, 'kind', RESOURCE_KINDS),
    statuses: wordsOf(query, 'status', STATUSES),
    reasons: wordsOf(query, 'reason', REASON_NAMES),
    well: wordsOf(query, 'well', ['true', 'false']),
    services: new Set(listOf(query, 'service')),
    labels: [...new Set(textsOf(query, 'label', LIMITS.labels))],
    file: singleOf(query, 'file', LIMITS.path)?.replace(/\/$/, ''),
    /** In lower case. */
    words: searchWords(query),
  }
}

export function isNarrowed(narrowing: Narrowing): boolean {
  return narrowing.file !== undefined || narrowing.words.length > 0 || hasOthers(narrowing)
}

function hasOthers(narrowing: Omit<Narrowing, 'file' | 'words'>): boolean {
  const { kinds, statuses, reasons, well, services, labels } = narrowing
  return (kinds ?? statuses ?? reasons ?? well) !== undefined || services.size > 0 || labels.length > 0
}

/** A key whose resource is gone matches by kind and name only. */
export function keysSelected(all: readonly ResourceView[], narrowing: Narrowing): (key: Key) => boolean {
  const known = new Set(all.map(({ key }) => key))
  const keys = new Set(filtered(all, narrowing).map(({ key }) => key))
  const { kinds, words, file } = narrowing
  const isByName = file === undefined && !hasOthers({ ...narrowing, kinds: undefined })
  return (key) => {
    if (known.has(key)) return keys.has(key)
    const isOfKind = kinds?.has(kindOf(key)) ?? true
    return isByName && isOfKind && hasAll(key.toLowerCase(), words)
  }
}

/** A finding without a resource matches by file and text only. */
export function findingsSelected(
  all: readonly ResourceView[],
  narrowing: Narrowing,
): (finding: Finding) => boolean {
  if (!isNarrowed(narrowing)) return () => true
  const known = new Set(all.map(({ key }) => key))
  const keys = new Set(filtered(all, narrowing).map(({ key }) => key))
  const { file: folder, words } = narrowing
  const isOther = hasOthers(narrowing)
  return ({ key, file, message, code }) =>
    key !== undefined && known.has(key)
      ? keys.has(key)
      : !isOther &&
        (folder === undefined || isIn(folder)({ file })) &&
        hasAll(`${file} ${message} ${code}`.toLowerCase(), words)
}

/** @param text in lower case */
export function hasAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word))
}

type Test = (resource: ResourceView) => boolean

export function filtered(all: readonly ResourceView[], narrowing: Narrowing): readonly ResourceView[] {
  const { kinds, statuses, reasons, well, services, labels, file, words } = narrowing
  const tests: Test[] = labels.map(hasLabel)
  if (kinds !== undefined) tests.push(({ kind }) => kinds.has(kind))
  if (statuses !== undefined) tests.push(({ status }) => statuses.has(status))
  if (reasons !== undefined) tests.push(({ reason }) => reasons.has(reason))
  if (well !== undefined) tests.push((resource) => well.has(isWell(resource) ? 'true' : 'false'))
  if (services.size > 0) tests.push(({ service }) => service !== undefined && services.has(service))
  if (file !== undefined) tests.push(isIn(file))
  if (words.length > 0)
    tests.push((resource) => hasAll(searchTexts.getOrInsertComputed(resource, searchText), words))
  if (tests.length === 0) return all
  return all.filter((resource) => tests.every((test) => test(resource)))
}

/** @param label `name` or `name=value` */
export function hasLabel(label: string): (resource: Pick<ResourceView, 'labels'>) => boolean {
  const at = label.indexOf('=')
  const [name, value] = at === -1 ? [label, undefined] : [label.slice(0, at), label.slice(at + 1)]
  return ({ labels }) => Object.hasOwn(labels, name) && (value === undefined || labels[name] === value)
}

function isIn(path: string): (of: Pick<ResourceView, 'file'>) => boolean {
  return ({ file }) => file !== undefined && (file === path || file.startsWith(`${path}/`))
}

/** Caches the text of each view, because a view never changes. */
const searchTexts = new WeakMap<ResourceView, string>()

function searchText(resource: ResourceView): string {
  const { key, status, reason, because, file, service, pipeId, state, labels, manifestRevision } = resource
  const words = [key, status, reason, causeOf(because, key), file, service, pipeId, state, manifestRevision]
  return [...words, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)]
    .join('\n')
    .toLowerCase()
}

const ORDERS: Readonly<Record<Exclude<Sort, 'key'>, (a: ResourceView, b: ResourceView) => number>> = {
  status: (a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status),
  kind: (a, b) => RESOURCE_KINDS.indexOf(a.kind) - RESOURCE_KINDS.indexOf(b.kind),
  reason: (a, b) => compareTexts(a.reason, b.reason),
  service: (a, b) => compareTexts(a.service, b.service),
  file: (a, b) => compareTexts(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0),
  state: (a, b) => compareTexts(a.state, b.state),
  since: (a, b) => b.since - a.since,
}

export type Sorting = Readonly<ReturnType<typeof sortingOf>>

/** `status`: worst first. `since`: last change first. `order=desc` reverses. */
export function sortingOf(query: Query) {
  const [sort = 'key'] = wordsOf(query, 'sort', SORTS) ?? []
  return { sort, down: wordsOf(query, 'order', ['asc', 'desc'])?.has('desc') ?? false }
}

/** @param resources sorted by key */
export function sorted(resources: readonly ResourceView[], { sort, down }: Sorting): readonly ResourceView[] {
  if (sort === 'key') return down ? resources.toReversed() : resources
  const order = ORDERS[sort]
  return resources.toSorted(down ? (a, b) => order(b, a) : order)
}

/** Undefined comes last. */
function compareTexts(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b ? -1 : 1
}
