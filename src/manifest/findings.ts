import type { RuleCode } from '../kinds/rule-codes.ts'
import type { Finding, Position, Severity } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import type { SourceCode } from './codes.ts'
import type { Place } from './source-text.ts'

/** Where in a document, from its root. */
export type Path = readonly (string | number)[]

/** What a finding says, apart from where. */
export interface Statement {
  readonly severity: Severity
  readonly code: SourceCode | RuleCode
  readonly message: string
  readonly hint: string
}

export function findingAt(
  place: Place,
  statement: Statement,
  context: { readonly key: Key | undefined; readonly related?: Finding['related'] },
): Finding {
  const { severity, code, message, hint } = statement
  const { file, line, column, endColumn, lineText } = place
  const related = context.related ?? []
  return { severity, code, message, hint, file, line, column, endColumn, lineText, key: context.key, related }
}

/** A finding about a whole file or folder: it stands at its beginning and shows no line. */
export function findingOfFile(file: string, statement: Statement): Finding {
  const place = { file, line: 1, column: 1, endColumn: 2, lineText: '' }
  return findingAt(place, statement, { key: undefined })
}

/** The order of file, line, column; then of code and message, so that equal places keep one order. */
export function byPosition(a: Finding, b: Finding): number {
  return comparePositions(a, b) || compareTexts(a.code, b.code) || compareTexts(a.message, b.message)
}

export function comparePositions(a: Position, b: Position): number {
  return compareTexts(a.file, b.file) || a.line - b.line || a.column - b.column
}

export function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
