import type { Key } from './key.ts'
import type { RuleCode } from './rule-codes.ts'

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
  /** The resource it belongs to, as far as it can be told. */
  readonly key: Key | undefined
  /** Other places that take part, such as the first of two duplicates. */
  readonly related: readonly (Position & { readonly message: string })[]
}

/** What a rule of a kind says about one manifest; `manifest/` turns it into a finding with a position. */
export interface Violation {
  readonly code: RuleCode
  readonly severity: Severity
  /** Where in the manifest, from its root: `['spec', 'fieldMappings', 2, 'sourceField']`. */
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly hint: string
}
