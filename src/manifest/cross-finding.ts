import type { Finding } from '../kinds/finding.ts'
import { compareTexts, comparePositions, findingAt } from './findings.ts'
import type { Path, Statement } from './findings.ts'
import type { ParsedDocument } from './parse-document.ts'
import type { Places } from './places.ts'

/** Other places that one finding names, at most. */
const RELATED = 5

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

/** Groups of two or more, in the order of their names; within each, by file and line. */
export function groupsOf<T extends { readonly position: ParsedDocument['position'] }>(
  items: readonly T[],
  nameOfGroup: (item: T) => string,
): readonly (readonly [string, readonly T[]])[] {
  return [...Map.groupBy(items, nameOfGroup)]
    .filter(([, group]) => group.length > 1)
    .map(
      ([name, group]) => [name, group.toSorted((a, b) => comparePositions(a.position, b.position))] as const,
    )
    .toSorted(([a], [b]) => compareTexts(a, b))
}
