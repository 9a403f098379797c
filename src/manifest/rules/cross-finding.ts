import type { Finding } from '../../kinds/finding.ts'
import {
  compareTexts,
  comparePositions,
  findingAt,
  type Path,
  type Statement,
} from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parse-document.ts'
import type { Places } from './source-locator.ts'

/** Other places that one finding names, at most. */
export const RELATED = 5

/** A finding about a document and others that take part in it, before their places are looked for. */
export interface CrossFinding {
  /** The document that it makes invalid, if any: never another one than its own. */
  readonly document: ParsedDocument
  readonly path: Path
  readonly statement: Statement
  readonly others: readonly Participant[]
}

interface Participant {
  readonly document: ParsedDocument
  readonly path: Path
  readonly message: string
}

export interface PlacedFinding {
  readonly document: ParsedDocument
  readonly finding: Finding
}

/** A finding at a place in a document; `others` take part in it. */
export function crossFinding(
  document: ParsedDocument,
  path: Path,
  statement: Statement,
  others: readonly Participant[] = [],
): CrossFinding {
  return { document, path, statement, others: others.slice(0, RELATED) }
}

export function placed({ document, path, statement, others }: CrossFinding, placeOf: Places): PlacedFinding {
  const related = others.map((other) => {
    const { file, line, column } = placeOf(other.document, other.path)
    return { file, line, column, message: other.message }
  })
  return {
    document,
    finding: findingAt(placeOf(document, path), statement, { key: document.key, related }),
  }
}

/**
 * For a member of a group, the first few that differ from it in what `nameOf` says. However large the group is, and however
 * many of it are alike, asking for each member costs no more than the group has members.
 */
export function othersIn<T>(group: readonly T[], nameOf: (item: T) => unknown): (item: T) => readonly T[] {
  const counts = new Map<unknown, number>()
  const few = group.filter((item) => {
    const name = nameOf(item)
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return count < RELATED
  })
  return (item) => {
    const name = nameOf(item)
    return few
      .values()
      .filter((other) => nameOf(other) !== name)
      .take(RELATED)
      .toArray()
  }
}

/** The first few of some names as one text, and how many are left. */
export function listed(names: ReadonlySet<string>, but: string | undefined, between: string): string {
  const shown = names
    .values()
    .filter((name) => name !== but)
    .take(RELATED)
    .toArray()
  const left = names.size - (but !== undefined && names.has(but) ? 1 : 0) - shown.length
  return shown.join(between) + (left > 0 ? ` and ${left} more` : '')
}

/** Groups of two or more, in the order of their names; within each, by file and line. */
export function groupsOf<T extends { readonly position: ParsedDocument['position'] }>(
  items: readonly T[],
  nameOfGroup: (item: T) => string,
): readonly (readonly [string, readonly T[]])[] {
  const firsts = new Map<string, T>()
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const name = nameOfGroup(item)
    const first = firsts.get(name)
    if (first === undefined) {
      firsts.set(name, item)
      continue
    }
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [first, item])
    else group.push(item)
  }
  return [...groups]
    .map(
      ([name, group]) => [name, group.toSorted((a, b) => comparePositions(a.position, b.position))] as const,
    )
    .toSorted(([a], [b]) => compareTexts(a, b))
}
