import type { Finding, Position, Severity } from '../../kinds/finding.ts'
import {
  compareTexts,
  comparePositions,
  findingAt,
  type Path,
  type Statement,
} from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import type { Places, Wanted } from './source-locator.ts'

/** Other places that one finding names, at most. */
export const RELATED = 5

/** Findings of one code that are said of one document; of the rest, their number. */
const SAID = 20

/** A finding about a document and others that take part in it, before their places are looked for. */
export interface CrossFinding {
  /** The document that it makes invalid, if any: never another one than its own. */
  readonly document: ParsedDocument
  readonly path: Path
  readonly statement: Statement
  readonly others: readonly Participant[]
}

export interface Participant {
  readonly document: ParsedDocument
  readonly path: Path
  readonly message: string
}

export interface PlacedFinding {
  readonly document: ParsedDocument
  readonly finding: Finding
}

/** Where a finding stands, and what it is. */
interface At {
  readonly document: ParsedDocument
  readonly path: Path
  readonly severity: Severity
  readonly code: Statement['code']
}

/** What a finding says. */
export interface Words {
  readonly message: string
  readonly hint: string
  readonly others?: readonly Participant[]
}

/** What the rules over several documents find. */
export interface CrossReport {
  /** @param words asked for only when it is said: of one code, a document says the first few, and how many more there are */
  add(at: At, words: () => Words): void
  /** Whether an error was found in a document. */
  readonly isInvalid: (document: ParsedDocument) => boolean
  /** What was found, in no order. */
  findings(): readonly CrossFinding[]
}

export function createCrossReport(): CrossReport {
  const said: CrossFinding[] = []
  const invalid = new Set<ParsedDocument>()
  const counts = new Map<ParsedDocument, Map<string, { count: number; readonly at: At }>>()

  function countOf(at: At): number {
    const ofDocument = counts.get(at.document) ?? new Map<string, { count: number; readonly at: At }>()
    counts.set(at.document, ofDocument)
    const known = ofDocument.get(at.code) ?? { count: 0, at }
    ofDocument.set(at.code, known)
    known.count += 1
    return known.count
  }

  return {
    add(at, words) {
      const { document, path, severity, code } = at
      if (severity === 'error') invalid.add(document)
      if (countOf(at) > SAID) return
      const { message, hint, others = [] } = words()
      said.push({
        document,
        path,
        statement: { severity, code, message, hint },
        others: others.slice(0, RELATED),
      })
    },
    isInvalid: (document) => invalid.has(document),
    findings() {
      const more = [...counts.values()]
        .flatMap((ofDocument) => [...ofDocument.values()])
        .filter(({ count }) => count > SAID)
        .map(({ count, at }) => moreOf(at, count - SAID))
      return [...said, ...more]
    },
  }
}

function moreOf({ document, severity, code }: At, left: number): CrossFinding {
  const message = `This document has ${left} more findings of "${code}"; they are not shown.`
  const hint = 'Correct the ones that are shown first.'
  const statement = { severity, code: 'too-many-findings', message, hint } as const
  return { document, path: [], statement, others: [] }
}

/** Documents of one reading in which places are looked for, about: each is parsed once more for that. */
const LOCATED = 500

/**
 * The places that are worth looking for. Of very many findings, those in files with few come first: one file that is full of them
 * takes no place from another. All others stand where their document begins.
 */
export function placesOf(findings: readonly CrossFinding[]): readonly Wanted[] {
  const byFile = [...Map.groupBy(findings, ({ document }) => document.position.file).values()]
  const documents = new Set<ParsedDocument>()
  const wanted: Wanted[] = []
  for (const ofFile of byFile.toSorted((a, b) => a.length - b.length)) {
    for (const { document, path, others } of ofFile) {
      const places = [{ document, path }, ...others]
      for (const place of places) documents.add(place.document)
      if (documents.size > LOCATED) return wanted
      wanted.push(...places)
    }
  }
  return wanted
}

export function placed(
  { document, path, statement, others }: CrossFinding,
  placeOf: Places['of'],
): PlacedFinding {
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
 * many of it are alike, asking for each member costs a few looks.
 */
export function othersIn<T>(group: readonly T[], nameOf: (item: T) => unknown): (item: T) => readonly T[] {
  const counts = new Map<unknown, number>()
  const few: T[] = []
  for (const item of group) {
    const name = nameOf(item)
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    if (count < RELATED) few.push(item)
    // Of each name there are at most so many among these: whatever the name of a member is, enough others are left.
    if (few.length > 2 * RELATED) break
  }
  return (item) => {
    const name = nameOf(item)
    return few.filter((other) => nameOf(other) !== name).slice(0, RELATED)
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

/** Where something begins, in words. */
export function whereOf({ position: { file, line } }: { readonly position: Position }): string {
  return `${file}:${line}`
}

/** Groups of two or more, in the order of their names; within each, by file and line. */
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
