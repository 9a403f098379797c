import type { RuleCode, Finding, Position, FindingSeverity } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import { withoutSecrets } from '../../lib/sensitive.ts'
import { MASK } from './mask-lines.ts'
import type { Place } from './source-text.ts'

export type Path = readonly (string | number)[]

export interface Statement {
  readonly severity: FindingSeverity
  readonly code: keyof typeof FINDING_CODES | RuleCode
  readonly message: string
  readonly hint: string
}

export interface ShapeFinding extends Statement {
  readonly path: Path
  /** Marks the name of the field. Default: marks the value. */
  readonly at?: 'field'
  /** The field that a misspelt name probably means. This field is not also reported as missing. */
  readonly meant?: Path | undefined
}

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

/** Codes on files, YAML and references. The codes on single manifests are `RULE_CODES` in kinds/. */
export const FINDING_CODES = {
  'file-unreadable': 'a file cannot be read',
  'folder-unreadable': 'a folder cannot be listed',
  'file-not-regular': 'a folder, device, pipe or socket instead of a file',
  'file-name': 'the name of a file holds control characters or is not UTF-8',
  'file-too-large': 'a file is over the size limit',
  'too-many-files': 'the directory holds too many files or folders',
  'too-many-manifests': 'all files together have too many bytes or documents',
  'link-broken': 'the target of a symbolic link is missing',
  'link-outside': 'a symbolic link leads out of the directory',
  'link-loop': 'a symbolic link leads back to itself or to a folder above it',
  'link-repeated': 'a symbolic link leads to a file or folder that is read anyway',
  'not-utf8': 'a file is not UTF-8 text',
  'nul-byte': 'a file holds a NUL byte',
  'too-many-documents': 'a file holds too many documents',
  'too-complex': 'a file holds too many values',
  'too-deep': 'collections are nested too deeply',
  'too-many-findings': 'a document has more findings than are shown',
  'yaml-syntax': 'the text is not YAML',
  'yaml-version': 'a %YAML or %TAG directive asks for something other than YAML 1.2',
  'yaml-tag': 'a tag is not known',
  'yaml-key': 'the name of a field is not text',
  'yaml-style': 'the text is valid YAML, but easy to misread',
  'alias-unknown': 'an alias refers to no anchor before it',
  'alias-circular': 'an alias is inside the value that it refers to',
  'alias-explosion': 'aliases expand to too many values',
  template: 'a document is a template that was not rendered, or a text holds a variable such as ${NAME}',
  'unseen-character': 'a text has a line break, an outer blank, or a character that cannot be seen',
  unresolved: 'a file or text is encrypted, or is a reference or placeholder that another tool replaces',
  'duplicate-field': 'a mapping names the same field twice',
  'not-a-mapping': 'a document is not a mapping',
  'unknown-kind': 'a document has no kind, or an unknown kind',
  'wrong-api-version': 'a document has another apiVersion',
  'unknown-field': 'there is no such field in this place',
  'missing-field': 'a field is missing',
  'wrong-type': 'a value has another type than the field',
  'wrong-value': 'a value is not one of the allowed values',
  'wrong-format': 'a value does not have the form of the field',
  'out-of-range': 'a value is too small, too large, too short or too long',
  'literal-secret': 'a secret is written out instead of a reference',
  'duplicate-key': 'two documents have the same kind and name',
  'unknown-service': 'a manifest names a Service that does not exist',
  'unknown-dependency': 'a manifest depends on a resource that does not exist',
  'circular-dependency': 'resources depend on each other, or are renamed from each other, in a circle',
  'endpoint-repeated': 'a service has more than one QueryEndpoint',
  'pipe-name-repeated': 'two pipes of a service have the same name',
  'pipe-claimed-twice': 'two manifests claim the same pipe id',
  'lock-file-name': 'a Lock is in a file that is not named *.lock.yaml',
  'lock-empty': 'a Lock file contains no Lock',
  'lock-conflict': 'Locks disagree on the id of a pipe',
  'lock-unused': 'a Lock names a pipe that has no manifest',
} as const
