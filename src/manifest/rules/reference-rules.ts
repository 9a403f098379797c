import { isResource, kindNamed, RESOURCE_KINDS } from '../../kinds/lookup.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import { keyOf, kindOf, nameOf, parseKey, type Key } from '../../kinds/key.ts'
import { serviceKey } from '../../kinds/service/kind.ts'
import { nearest } from '../../lib/nearest.ts'
import { compareTexts } from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import type { CrossReport } from './cross-finding.ts'
import type { Before } from './duplicate-keys.ts'
import { dependencyCircles } from './dependency-cycles.ts'

/** Members of a circle that a message names, at most. */
const SHOWN = 8

/** Names that are compared in search of those that were meant, in one reading; beyond them nothing is suggested. */
const MOST_COMPARISONS = 50_000

interface World {
  /** In the order of file and line. */
  readonly documents: readonly ParsedDocument[]
  /** Keys that are there, whether or not their manifests are valid. */
  readonly existing: ReadonlySet<Key>
  /** Some file could not be read or parsed, so that something missing may stand there. */
  readonly isIncomplete: boolean
}

/** `service` and `dependsOn` refer to something that exists. */
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
        message: `There is no ${key} to depend on.`,
        hint: hint(key),
      }))
    }
  }
}

/** What to do about a key that is missing: as one with a similar name is there, or is not. */
function createHints({ existing, isIncomplete }: World): (missing: Key) => string {
  const hints = new Map<Key, string>()
  const namesOf = new Map<string, readonly string[]>()
  let comparisons = 0

  function nearestTo(missing: Key): string | undefined {
    const kind = kindOf(missing)
    const names =
      namesOf.get(kind) ??
      [...existing]
        .filter((key) => kindOf(key) === kind)
        .map(nameOf)
        .toSorted(compareTexts)
    namesOf.set(kind, names)
    comparisons += names.length
    return comparisons > MOST_COMPARISONS ? undefined : nearest(nameOf(missing), names)
  }

  function hintFor(missing: Key): string {
    const kind =
      kindNamed(kindOf(missing)) === undefined ? nearest(kindOf(missing), RESOURCE_KINDS) : undefined
    if (kind !== undefined) return `Did you mean "${keyOf(kind, nameOf(missing))}"?`
    const meant = nearestTo(missing)
    if (meant !== undefined) return `Did you mean "${meant}"?`
    return isIncomplete
      ? 'It may stand in a file that cannot be read; look at the other findings first.'
      : `Add a manifest of ${missing}, or correct the name.`
  }

  return (missing) => {
    const hint = hints.get(missing) ?? hintFor(missing)
    hints.set(missing, hint)
    return hint
  }
}

/**
 * No resource waits for itself by way of others. Where the dependency that closes a circle is new, the manifest that brought it
 * gets the finding, and the others stay as they are.
 */
export function checkCircles(
  documents: readonly ParsedDocument[],
  before: Before,
  report: CrossReport,
): void {
  const byKey = new Map<Key, ParsedDocument>()
  const edges = new Map<Key, readonly Key[]>()
  for (const document of documents) {
    const { key, manifest } = document
    if (key === undefined || !isResource(manifest)) continue
    const targets = dependenciesOf(manifest)
    // What depends on nothing is in no circle.
    if (targets.length === 0) continue
    byKey.set(key, document)
    edges.set(key, targets)
  }
  const { circles, tangled } = dependencyCircles(edges)
  for (const circle of circles) {
    const nextOf = (at: number) => circle[(at + 1) % circle.length]
    const isNew = (key: Key, at: number) => !dependenciesBefore(before, byKey.get(key))(nextOf(at))
    const anyNew = circle.some(isNew)
    for (const [at, key] of circle.entries()) {
      const document = byKey.get(key)
      if (document === undefined || (anyNew && !isNew(key, at))) continue
      const index = (edges.get(key) ?? []).indexOf(nextOf(at) ?? key)
      const path = ['policy', 'dependsOn', Math.max(0, index)]
      report.add({ document, path, severity: 'error', code: 'circular-dependency' }, () => ({
        message: `Resources depend on each other in a circle: ${circleText(circle, at)}.`,
        hint: 'Remove one of these dependencies; until then none of them can be created.',
      }))
    }
  }
  const isNewIn = (document: ParsedDocument | undefined) => {
    const had = dependenciesBefore(before, document)
    return (document?.key && edges.get(document.key))?.some((target) => !had(target)) === true
  }
  const anyTangledNew = tangled.some((key) => isNewIn(byKey.get(key)))
  for (const key of tangled) {
    const document = byKey.get(key)
    if (document === undefined || (anyTangledNew && !isNewIn(document))) continue
    report.add(
      { document, path: ['policy', 'dependsOn'], severity: 'error', code: 'circular-dependency' },
      () => ({
        message: `${key} and others depend on each other in many circles.`,
        hint: 'Remove dependencies; until then none of them can be created.',
      }),
    )
  }
}

function dependenciesOf(manifest: {
  readonly policy?: { readonly dependsOn?: readonly string[] | undefined } | undefined
}) {
  return (manifest.policy?.dependsOn ?? []).map(parseKey).filter((target) => target !== undefined)
}

/** Which dependencies a valid manifest of this key had before: as this process knows it, or else as the ledger does. */
function dependenciesBefore(
  { catalog, recorded }: Before,
  document: ParsedDocument | undefined,
): (target: Key | undefined) => boolean {
  if (document?.key === undefined) return () => false
  const manifest = catalog.entries.get(document.key)?.manifest
  if (manifest === undefined) {
    const record = recorded.get(document.key)
    return () => record !== undefined && record.digest === document.meaning
  }
  const targets = new Set(dependenciesOf(manifest))
  return (target) => target !== undefined && targets.has(target)
}

/** The circle from one of its members back to itself; of a long one, its beginning. */
function circleText(circle: readonly Key[], at: number): string {
  const first = circle.slice(at, at + SHOWN)
  const shown = [...first, ...circle.slice(0, Math.min(at, SHOWN - first.length))]
  const left = circle.length - shown.length
  return [...shown, ...(left > 0 ? [`(${left} more)`] : []), circle[at]].join(' → ')
}
