import type { Key } from './key.ts'

export type FindingSeverity = 'error' | 'warning'

export interface Position {
  /** Path below the manifests directory, with `/`. */
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  /** Counted from 1, in UTF-16 code units. */
  readonly column: number
}

export interface Finding extends Position {
  readonly severity: FindingSeverity
  /** Stable code, from `FINDING_CODES`. */
  readonly code: string
  readonly message: string
  readonly hint: string
  /** Column after the last marked character. */
  readonly endColumn: number
  /** Text of the line, with secrets masked. Empty: the line is not shown. */
  readonly lineText: string
  readonly key: Key | undefined
  /** Other places that the finding is about, such as the first of two equal names. */
  readonly related: readonly (Position & { readonly message: string })[]
}

/** Such as `['spec', 'fieldMappings', 2, 'sourceField']`. */
export type Path = readonly (string | number)[]

export interface Statement {
  readonly severity: FindingSeverity
  readonly code: keyof typeof FINDING_CODES
  readonly message: string
  readonly hint: string
}

export interface FieldFinding extends Statement {
  readonly path: Path
  /** Marks the name of the field. Default: marks the value. */
  readonly at?: 'field'
  /** The field that a misspelt name probably means. This field is not also reported as missing. */
  readonly meant?: Path | undefined
}

type Place = Omit<FieldFinding, 'code' | 'severity'>

export function ruleError(code: Statement['code'], place: Place): FieldFinding {
  return { code, severity: 'error', ...place }
}

export function ruleWarning(code: Statement['code'], place: Place): FieldFinding {
  return { code, severity: 'warning', ...place }
}

/** Index of each value that repeats an earlier value, with the index of the first equal value. */
export function repeatsIn(
  values: readonly string[],
): readonly { readonly index: number; readonly first: number }[] {
  const seen = new Map<string, number>()
  return values.flatMap((value, index) => {
    const first = seen.get(value)
    if (first !== undefined) return [{ index, first }]
    seen.set(value, index)
    return []
  })
}

/** Codes on single manifests. */
export const RULE_CODES = {
  'source-kind-count': 'a pipe names no source kind, or more than one',
  'brokers-invalid': 'an entry of the brokers is not host:port',
  'column-type-invalid': 'the brackets of the type of a column do not match',
  'column-repeated': 'two destination columns have the same name',
  'mapping-missing-column': 'a destination column has no field mapping',
  'mapping-unknown-column': 'a field mapping names a column that the destination does not have',
  'mapping-repeated-column': 'two field mappings name the same destination column',
  'field-needed': 'a field is missing that another field needs',
  'field-excluded': 'a field is set together with a field that excludes it',
  'field-doubtful': 'a field is set that has no effect here, as far as the documentation says',
  'value-excluded': 'a value is not allowed, or not allowed together with another field',
  'item-repeated': 'a list has the same item twice',
  'origin-invalid': 'an entry of the allowed origins is not a domain',
  'role-repeated': 'a role is listed twice',
  'key-repeated': 'an API key is listed twice',
  'alert-id-mismatch': 'expect.id of an alert differs from spec.id',
  'secret-returned': 'a secret is in a field that the platform returns to all readers of the resource',
  'depends-on-itself': 'a resource waits for itself',
  'policy-contradiction': 'two fields of the policy exclude each other',
  'policy-target-invalid': 'renamedFrom or replaces does not name another resource of the same kind',
} as const

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
  ...RULE_CODES,
} as const
