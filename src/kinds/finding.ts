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
  /** Stable code, from `FINDING_CODES` or `RULE_CODES`. */
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

export interface RuleFinding {
  readonly code: RuleCode
  readonly severity: FindingSeverity
  /** Path in the manifest, such as `['spec', 'fieldMappings', 2, 'sourceField']`. */
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly hint: string
}

type Place = Omit<RuleFinding, 'code' | 'severity'>

export function ruleError(code: RuleCode, place: Place): RuleFinding {
  return { code, severity: 'error', ...place }
}

export function ruleWarning(code: RuleCode, place: Place): RuleFinding {
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

export type RuleCode = keyof typeof RULE_CODES
