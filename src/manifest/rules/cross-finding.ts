import type { Finding, Position, Path, Statement } from '../../kinds/finding.ts'
import { compareTexts, comparePositions, findingAt, positionOf } from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import type { Places } from './source-locator.ts'

export const RELATED = 5

const SAID = 20

interface Participant {
  readonly document: ParsedDocument
  readonly path: Path
  readonly message: string
}

/** A finding on several documents. An error makes only `document` invalid. */
interface CrossFinding extends Participant, Statement {
  readonly others: readonly Participant[]
}

export interface PlacedFinding {
  readonly document: ParsedDocument
  readonly finding: Finding
}

type At = Omit<CrossFinding, 'message' | 'hint' | 'others'>

interface Words extends Pick<Statement, 'message' | 'hint'> {
  readonly others?: readonly (Pick<Participant, 'path' | 'message'> & {
    readonly document: ParsedDocument | undefined
  })[]
}

export type CrossReport = ReturnType<typeof createCrossReport>

export function createCrossReport() {
  const said: CrossFinding[] = []
  const invalid = new Set<ParsedDocument>()
  const counts = new Map<ParsedDocument, Map<string, number>>()

  function countOf({ document, code }: At): number {
    const ofDocument = counts.getOrInsertComputed(document, () => new Map())
    const count = ofDocument.getOrInsert(code, 0) + 1
    ofDocument.set(code, count)
    return count
  }

  return {
    /** @param words called only if the finding is shown */
    add(at: At, words: () => Words) {
      if (at.severity === 'error') invalid.add(at.document)
      const count = countOf(at)
      if (count > SAID + 1) return
      const { others = [], ...more } = count > SAID ? MORE : words()
      const shown = others
        .slice(0, RELATED)
        .flatMap((other) => (other.document === undefined ? [] : [{ ...other, document: other.document }]))
      said.push({ ...at, ...more, others: shown })
    },
    isInvalid: (document: ParsedDocument) => invalid.has(document),
    findings: () => said,
  }
}

const MORE = {
  code: 'too-many-findings',
  message: 'This document has more findings of the same kind that are not shown.',
  hint: 'Correct the shown findings first.',
  others: [],
} as const

const LOCATED = 500

/** Limits the documents, because finding a place takes long. Files with few findings come first. */
export function placesOf(findings: readonly CrossFinding[]): readonly Participant[] {
  const byFile = [...Map.groupBy(findings, ({ document }) => document.position.file).values()]
  const documents = new Set<ParsedDocument>()
  const wanted: Participant[] = []
  for (const ofFile of byFile.toSorted((a, b) => a.length - b.length)) {
    for (const finding of ofFile) {
      const places = [finding, ...finding.others]
      for (const place of places) documents.add(place.document)
      if (documents.size > LOCATED) return wanted
      wanted.push(...places)
    }
  }
  return wanted
}

export function placed(finding: CrossFinding, placeOf: Places['of']): PlacedFinding {
  const { document, path, others } = finding
  const related = others.map((other) => ({
    ...positionOf(placeOf(other.document, other.path)),
    message: other.message,
  }))
  const placedThere = findingAt(placeOf(document, path), finding, { key: document.key, related })
  return { document, finding: placedThere }
}

export function othersIn<T>(group: readonly T[], nameOf: (item: T) => unknown): (item: T) => readonly T[] {
  const counts = new Map<unknown, number>()
  const few: T[] = []
  for (const item of group) {
    const name = nameOf(item)
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    if (count < RELATED) few.push(item)
    if (few.length > 2 * RELATED) break
  }
  return (item) => {
    const name = nameOf(item)
    return few.filter((other) => nameOf(other) !== name).slice(0, RELATED)
  }
}

export function listed(names: ReadonlySet<string>, but: string | undefined, between: string): string {
  const shown = names
    .values()
    .filter((name) => name !== but)
    .take(RELATED)
    .toArray()
  const left = names.size - (but !== undefined && names.has(but) ? 1 : 0) - shown.length
  return shown.join(between) + (left > 0 ? ` and ${left} more` : '')
}

export function whereOf({ position: { file, line } }: { readonly position: Position }): string {
  return `${file}:${line}`
}

/** Groups of two or more, sorted by name. Each group is sorted by file and line. */
export function groupsOf<T extends { readonly position: Position }>(
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
