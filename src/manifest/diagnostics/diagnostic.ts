import type { RuleCode, Finding, Position, Severity } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import type { SourceCode } from './finding-codes.ts'
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

/**
 * The place of a finding as text: `file:line:column`, the line, and carets below what is marked. Tabs of the line
 * are repeated below it, so that the carets stand right whatever a tab's width. No colour, no newline at the end.
 */
export function pictureOf(
  finding: Pick<Finding, 'file' | 'line' | 'column' | 'endColumn' | 'lineText'>,
): string {
  const where = `${finding.file}:${finding.line}:${finding.column}`
  const { lineText } = finding
  if (lineText.trim() === '') return where
  // Masking and cutting shorten a line; what is marked may then lie beyond its end.
  const start = Math.min(finding.column - 1, Math.max(0, lineText.length - 1))
  const end = Math.max(start + 1, Math.min(finding.endColumn - 1, lineText.length))
  const margin = lineText.slice(0, start).replaceAll(/[^\t]/g, ' ')
  return [where, lineText, margin + '^'.repeat(end - start)].join('\n')
}
