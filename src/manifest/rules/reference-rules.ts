import { type Key, keyOf, kindOf, nameOf, parseKey } from '../../kinds/key.ts'
import { isResource, kindNamed, RESOURCE_KINDS } from '../../kinds/lookup.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import { SERVICE, serviceKey } from '../../kinds/service/kind.ts'
import { nearest } from '../../lib/nearest.ts'
import { dependencyCircles } from './dependency-cycles.ts'
import { crossFinding, groupsOf, othersIn, type CrossFinding } from './cross-finding.ts'
import { compareTexts, type Path } from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parse-document.ts'
import { type Claims, lockFindings } from './lock-rules.ts'
import { repeatedEndpoints, repeatedPipeNames, serviceIdentities } from './service-rules.ts'

/** All documents of a reading, and what exists besides. */
export interface World {
  /** In the order of file and line. */
  readonly documents: readonly ParsedDocument[]
  readonly claims: Claims
  /** Keys that stand although this reading did not find them: unreadable, or missing for fewer than three readings. */
  readonly standing: ReadonlySet<Key>
  /** Some file could not be read or parsed, so that something missing may stand there. */
  readonly incomplete: boolean
}

/** The rules that need more than one document (design §3). */
export function crossFindings(world: World): readonly CrossFinding[] {
  const existing = new Set<Key>(world.standing)
  for (const { key } of world.documents) if (key !== undefined) existing.add(key)
  const identityOf = serviceIdentities(world.documents)
  return [
    ...duplicates(world.documents),
    ...references(world, existing),
    ...circles(world.documents),
    ...repeatedEndpoints(world.documents, identityOf),
    ...repeatedPipeNames(world.documents, identityOf),
    ...lockFindings(world.documents, world.claims, existing),
  ]
}

/** Members of a circle that a message names, at most. */
const SHOWN = 8

/** Names that are compared in search of the one that was meant; where more would have to be, nothing is suggested. */
const MOST_COMPARISONS = 200_000

const NAME: Path = ['metadata', 'name']

function duplicates(documents: readonly ParsedDocument[]): readonly CrossFinding[] {
  const named = documents.filter((document) => document.kind !== undefined && document.name !== undefined)
  return groupsOf(named, ({ key, kind, name }) => key ?? `${kind}/${name}`).flatMap(([name, group]) => {
    const othersOf = othersIn(group, (document) => document)
    return group.map((document) => {
      const others = othersOf(document)
      const [first] = others
      const where = first === undefined ? '' : `${first.position.file}:${first.position.line}`
      return crossFinding(
        document,
        NAME,
        {
          severity: 'error',
          code: 'duplicate-key',
          message: `${name} is there more than once: here and at ${where}.`,
          hint: 'Rename or remove all but one; until then none of them is used.',
        },
        // Where it begins, as the message says.
        others.map((other) => ({ document: other, path: [], message: `the other ${name}` })),
      )
    })
  })
}

function references(world: World, existing: ReadonlySet<Key>): readonly CrossFinding[] {
  const hints = new Map<Key, string>()
  const hint = (missing: Key) => {
    const known = hints.get(missing) ?? hintFor(missing)
    hints.set(missing, known)
    return known
  }
  let comparisons = 0
  const namesOf = new Map<string, readonly string[]>()
  const nearestTo = (missing: Key) => {
    const kind = kindOf(missing)
    const names = namesOf.get(kind) ?? [...existing].filter((key) => kindOf(key) === kind).map(nameOf)
    if (!namesOf.has(kind)) namesOf.set(kind, names.toSorted(compareTexts))
    comparisons += names.length
    return comparisons > MOST_COMPARISONS ? undefined : nearest(nameOf(missing), namesOf.get(kind) ?? [])
  }
  const hintFor = (missing: Key) => {
    const kind =
      kindNamed(kindOf(missing)) === undefined ? nearest(kindOf(missing), RESOURCE_KINDS) : undefined
    if (kind !== undefined) return `Did you mean "${keyOf(kind, nameOf(missing))}"?`
    const meant = nearestTo(missing)
    if (meant !== undefined) return `Did you mean "${meant}"?`
    return world.incomplete
      ? 'It may stand in a file that cannot be read; look at the other findings first.'
      : `Add a manifest of ${missing}, or correct the name.`
  }
  const services = new Set<string>()
  for (const key of existing) if (kindOf(key) === SERVICE.name) services.add(nameOf(key))
  const found: CrossFinding[] = []
  for (const document of world.documents) {
    const manifest = document.manifest ?? document.rest
    if (!isResource(manifest)) continue
    const name = serviceOf(manifest)
    if (name !== undefined && !services.has(name)) {
      found.push(
        crossFinding(document, ['spec', 'service'], {
          severity: 'error',
          code: 'unknown-service',
          message: `There is no Service "${name}".`,
          hint: hint(serviceKey(name)),
        }),
      )
    }
    for (const [index, text] of (manifest.policy?.dependsOn ?? []).entries()) {
      const key = parseKey(text)
      if (key === undefined || existing.has(key)) continue
      found.push(
        crossFinding(document, ['policy', 'dependsOn', index], {
          severity: 'error',
          code: 'unknown-dependency',
          message: `There is no ${key} to depend on.`,
          hint: hint(key),
        }),
      )
    }
  }
  return found
}

function circles(documents: readonly ParsedDocument[]): readonly CrossFinding[] {
  const byKey = new Map<Key, ParsedDocument>()
  const edges = new Map<Key, readonly Key[]>()
  for (const document of documents) {
    const { key, manifest } = document
    if (key === undefined || !isResource(manifest)) continue
    const { dependsOn } = manifest.policy ?? {}
    // What depends on nothing is in no circle.
    if (dependsOn === undefined || dependsOn.length === 0) continue
    byKey.set(key, document)
    edges.set(
      key,
      dependsOn.map(parseKey).filter((target) => target !== undefined),
    )
  }
  return dependencyCircles(edges).flatMap((circle) =>
    circle.flatMap((key, at) => {
      const document = byKey.get(key)
      if (document === undefined) return []
      const next = circle[(at + 1) % circle.length] ?? key
      const index = (edges.get(key) ?? []).indexOf(next)
      const message = `Resources depend on each other in a circle: ${circleText(circle, at)}.`
      const hint = 'Remove one of these dependencies; until then none of them can be created.'
      return [
        crossFinding(document, ['policy', 'dependsOn', Math.max(0, index)], {
          severity: 'error',
          code: 'circular-dependency',
          message,
          hint,
        }),
      ]
    }),
  )
}

/** The circle from one of its members back to itself; of a long one, its beginning. */
function circleText(circle: readonly Key[], at: number): string {
  const first = circle.slice(at, at + SHOWN)
  const shown = [...first, ...circle.slice(0, Math.min(at, SHOWN - first.length))]
  const left = circle.length - shown.length
  return [...shown, ...(left > 0 ? [`(${left} more)`] : []), circle[at]].join(' → ')
}
