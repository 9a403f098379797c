import { isResource, kindNamed, RESOURCE_KINDS } from '../../kinds/lookup.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { keyOf, kindOf, nameOf, parseKey, type Key } from '../../kinds/key.ts'
import { serviceKey } from '../../kinds/service/kind.ts'
import { createNearest, nearest } from '../../lib/nearest.ts'
import { compareTexts } from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { listed, type CrossReport } from './cross-finding.ts'
import type { Before } from './duplicate-keys.ts'

const MOST_COMPARISONS = 50_000

interface World {
  readonly documents: readonly ParsedDocument[]
  /** Keys of all found manifests, valid or not. */
  readonly existing: ReadonlySet<Key>
  readonly isIncomplete: boolean
}

export function checkReferences(world: World, report: CrossReport): void {
  const hint = createHints(world)
  for (const document of world.documents) {
    const manifest = document.manifest ?? document.rest
    if (!isResource(manifest)) continue
    const name = serviceOf(manifest)
    if (name !== undefined && !world.existing.has(serviceKey(name))) {
      report.add({ document, path: ['spec', 'service'], severity: 'error', code: 'unknown-service' }, () => ({
        message: `There is no Service "${name}".`,
        hint: hint(serviceKey(name)),
      }))
    }
    for (const [index, text] of (manifest.policy?.dependsOn ?? []).entries()) {
      const key = parseKey(text)
      if (key === undefined || world.existing.has(key)) continue
      const path = ['policy', 'dependsOn', index]
      report.add({ document, path, severity: 'error', code: 'unknown-dependency' }, () => ({
        message: `dependsOn names ${key}, which has no manifest.`,
        hint: hint(key),
      }))
    }
  }
}

function createHints({ existing, isIncomplete }: World): (missing: Key) => string {
  const hints = new Map<Key, string>()
  const nearestName = createNearest(MOST_COMPARISONS)
  let byKind: ReadonlyMap<string, readonly Key[]> | undefined

  function hintFor(missing: Key): string {
    const kind = kindOf(missing)
    const right = kindNamed(kind) === undefined ? nearest(kind, RESOURCE_KINDS) : undefined
    if (right !== undefined) return `Did you mean "${keyOf(right, nameOf(missing))}"?`
    byKind ??= Map.groupBy(existing, kindOf)
    const meant = nearestName(nameOf(missing), (byKind.get(kind) ?? []).values().map(nameOf))
    if (meant !== undefined) return `Did you mean "${meant}"?`
    return isIncomplete
      ? `The manifest of ${missing} might be in an unreadable file. Correct the other findings first.`
      : `Add a manifest for ${missing}, or correct the name.`
  }

  return (missing) => hints.getOrInsertComputed(missing, hintFor)
}

export const CHAINS = [
  {
    field: 'dependsOn',
    message: 'Resources depend on each other in a circle',
    hint: 'Remove one of these dependencies. Until then, none of these resources can be created.',
  },
  {
    field: 'renamedFrom',
    message: 'Resources are renamed from each other in a circle',
    hint: 'Remove renamedFrom, and give each resource its former name. Then rename one after another.',
  },
] as const

type Chain = (typeof CHAINS)[number]

/** Reports circles of references. If a circle has new references, only these get a finding. */
export function checkCircles(
  { field, message, hint }: Chain,
  documents: readonly ParsedDocument[],
  before: Before,
  report: CrossReport,
): void {
  const byKey = new Map<Key, ParsedDocument>()
  const edges = new Map<Key, readonly Key[]>()
  for (const document of documents) {
    const { key, manifest } = document
    if (key === undefined || !isResource(manifest)) continue
    const targets = targetsOf(manifest, field)
    if (targets.length === 0) continue
    byKey.set(key, document)
    edges.set(key, targets)
  }
  for (const circle of dependencyCircles(edges)) {
    const members = new Set(circle.toSorted(compareTexts))
    const within = circle.flatMap((key) => {
      const document = byKey.get(key)
      const had = targetsBefore(before, document, field)
      return (edges.get(key) ?? [])
        .map((target, index) => ({ document, target, index, isNew: !had(target) }))
        .filter(({ target }) => members.has(target))
    })
    const isAnyNew = within.some(({ isNew }) => isNew)
    for (const { document, index, isNew } of within) {
      if (document === undefined || isNew !== isAnyNew) continue
      const path = field === 'dependsOn' ? ['policy', field, index] : ['policy', field]
      report.add({ document, path, severity: 'error', code: 'circular-dependency' }, () => ({
        message: `${message}: ${listed(members, undefined, ', ')}.`,
        hint,
      }))
    }
  }
}

const NONE: readonly Key[] = []

function targetsOf({ policy }: ResourceManifest, field: Chain['field']): readonly Key[] {
  const texts = policy?.[field]
  return texts === undefined ? NONE : [texts].flat().flatMap((text) => parseKey(text) ?? [])
}

function targetsBefore(
  { catalog, recorded }: Before,
  document: ParsedDocument | undefined,
  field: Chain['field'],
): (target: Key) => boolean {
  if (document?.key === undefined) return () => false
  const manifest = catalog.entries.get(document.key)?.manifest
  if (manifest === undefined) {
    const record = recorded.get(document.key)
    return () => record !== undefined && record.digest === document.digest
  }
  const targets = new Set(targetsOf(manifest, field))
  return (target) => targets.has(target)
}

/**
 * Tarjan's algorithm for strongly connected components, with an explicit stack, because chains can be long.
 * A key that only leads into a circle is no member of it.
 */
export function dependencyCircles(edges: ReadonlyMap<Key, readonly Key[]>): readonly (readonly Key[])[] {
  const index = new Map<Key, number>()
  const low = new Map<Key, number>()
  const open: Key[] = []
  const isOpen = new Set<Key>()
  const found: (readonly Key[])[] = []
  const enter = (key: Key): { readonly key: Key; next: number } => {
    index.set(key, index.size)
    low.set(key, index.size - 1)
    open.push(key)
    isOpen.add(key)
    return { key, next: 0 }
  }
  const lower = (key: Key, value: number) => low.set(key, Math.min(low.get(key) ?? value, value))
  for (const root of edges.keys()) {
    if (index.has(root)) continue
    const visits = [enter(root)]
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const target = edges.get(visit.key)?.[visit.next]
      visit.next += 1
      if (target !== undefined) {
        if (!index.has(target)) visits.push(enter(target))
        else if (isOpen.has(target)) lower(visit.key, index.get(target) ?? 0)
        continue
      }
      visits.pop()
      const parent = visits.at(-1)
      if (parent !== undefined) lower(parent.key, low.get(visit.key) ?? 0)
      if (low.get(visit.key) === index.get(visit.key)) {
        const component = open.splice(open.lastIndexOf(visit.key))
        for (const key of component) isOpen.delete(key)
        if (component.length > 1) found.push(component)
      }
    }
  }
  return found
}
