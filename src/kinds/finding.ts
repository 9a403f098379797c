import type { Key } from './key.ts'

export type Severity = 'error' | 'warning'

export interface Position {
  /** Path relative to the manifests directory, with forward slashes. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 code units, as editors count. */
  readonly column: number
}

/** A message about a manifest: what, where, why, and what to do. */
export interface Finding extends Position {
  readonly severity: Severity
  /** Stable, kebab-case, documented in docs/manifests.md: see `FINDING_CODES` in manifest/. */
  readonly code: string
  /** One sentence: what is wrong. Never holds a secret. */
  readonly message: string
  /** One sentence: what to do. */
  readonly hint: string
  /** Column after the last marked character of the same line. */
  readonly endColumn: number
  /** The text of the line, with secrets masked; empty when there is none to show. */
  readonly lineText: string
  /** The resource it belongs to, as far as it is known. */
  readonly key: Key | undefined
  /** Other places that take part, such as the first of two duplicates. */
  readonly related: readonly (Position & { readonly message: string })[]
}

/** What a rule of a kind says about one manifest; `manifest/` turns it into a finding with a position. */
export interface RuleFinding {
  readonly code: RuleCode
  readonly severity: Severity
  /** Where in the manifest, from its root: `['spec', 'fieldMappings', 2, 'sourceField']`. */
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly hint: string
}

type Place = Omit<RuleFinding, 'code' | 'severity'>

/** One that keeps the manifest from being used. */
export function ruleError(code: RuleCode, place: Place): RuleFinding {
  return { code, severity: 'error', ...place }
}

/** One that is shown and does no harm. */
export function ruleWarning(code: RuleCode, place: Place): RuleFinding {
  return { code, severity: 'warning', ...place }
}

/** The codes of the rules within one document (design §3), each with what it means. */
export const RULE_CODES = {
  'source-kind-count': 'a pipe names no source kind, or more than one',
  'brokers-invalid': 'an entry of the brokers is not host:port',
  'column-type-invalid': 'the brackets of the type of a column do not match',
  'column-repeated': 'two destination columns have the same name',
  'mapping-missing-column': 'a destination column has no field mapping',
  'mapping-unknown-column': 'a field mapping names a column that the destination does not have',
  'mapping-repeated-column': 'two field mappings name the same destination column',
  'field-needed': 'a field is missing that another one needs',
  'field-excluded': 'a field is set beside another one that excludes it',
  'field-doubtful': 'a field is set that has no effect here, as far as the documentation says',
  'value-excluded': 'a field has a value that another one excludes, or that cannot be right',
  'item-repeated': 'a list that holds each item once holds one twice',
  'origin-invalid': 'an entry of the allowed origins is not a domain',
  'role-repeated': 'a role is listed twice',
  'key-repeated': 'an API key is listed twice',
  'alert-id-mismatch': 'the expected id of an alert is not the id that is looked up',
  'secret-returned':
    'a secret is referred to in a field that the platform gives back to whoever may read the resource',
  'depends-on-itself': 'a resource waits for itself',
  'policy-contradiction': 'two fields of the policy exclude each other',
  'policy-target-invalid': 'renamedFrom or replaces names something other than another pipe',
} as const

export type RuleCode = keyof typeof RULE_CODES
