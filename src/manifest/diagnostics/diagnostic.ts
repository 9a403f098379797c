import type { Finding, Position, Statement } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import { withoutSecrets } from '../../lib/sensitive.ts'
import { MASK } from './mask-lines.ts'
import type { Place } from './source-text.ts'

export function errorStatement(code: Statement['code'], message: string, hint: string): Statement {
  return { severity: 'error', code, message, hint }
}

export function findingAt(
  place: Place,
  statement: Statement,
  context: { readonly key?: Key | undefined; readonly related?: Finding['related'] } = {},
): Finding {
  const { severity, code } = statement
  const message = withoutSecrets(statement.message, MASK)
  const hint = withoutSecrets(statement.hint, MASK)
  const { file, line, column, endColumn, lineText } = place
  const related = (context.related ?? []).map((other) => ({
    ...other,
    message: withoutSecrets(other.message, MASK),
  }))
  return { severity, code, message, hint, file, line, column, endColumn, lineText, key: context.key, related }
}

export function findingOfFile(file: string, statement: Statement): Finding {
  const place = { file, line: 1, column: 1, endColumn: 2, lineText: '' }
  return findingAt(place, statement)
}

export function byPosition(a: Finding, b: Finding): number {
  return comparePositions(a, b) || compareTexts(a.code, b.code) || compareTexts(a.message, b.message)
}

export function positionOf({ file, line, column }: Position): Position {
  return { file, line, column }
}

export function comparePositions(a: Position, b: Position): number {
  return compareTexts(a.file, b.file) || a.line - b.line || a.column - b.column
}

export function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** `file:line:column`, the source line, and carets under the marked part. Tabs are repeated to align the carets. */
export function pictureOf(finding: Place): string {
  const where = `${finding.file}:${finding.line}:${finding.column}`
  const { lineText } = finding
  if (lineText.trim() === '') return where
  // The columns can be beyond the end of `lineText`, because masking and cutting shorten a line.
  const start = Math.min(finding.column - 1, Math.max(0, lineText.length - 1))
  const end = Math.max(start + 1, Math.min(finding.endColumn - 1, lineText.length))
  const margin = lineText.slice(0, start).replaceAll(/[^\t]/g, ' ')
  return [where, lineText, margin + '^'.repeat(end - start)].join('\n')
}
