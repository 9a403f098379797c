import type { JsonObject } from '../lib/json.ts'
import type { Fields } from './field-table.ts'
import { canonicalLeaves, type Leaf } from './canonical.ts'

/** Equal bodies have equal digests. References are hashed as references: a rotated secret has no effect. */
export function fingerprintBody(
  body: JsonObject,
  options: {
    readonly fields: Fields
    /** Keyed, because bodies can be sensitive. */
    readonly hash: (text: string) => string
    readonly digest: string | undefined
  },
): { readonly digest: string; readonly fields: Readonly<Record<string, string>> } {
  const { hash } = options
  const leaves = () => canonicalLeaves(options.fields, body)
  let fields: Readonly<Record<string, string>> | undefined
  return {
    // No canonical text or path has a line break.
    digest: options.digest ?? hash(leaves().map(lineOf).join('\n')),
    // Computed on first use, usually after an edit: expensive.
    get fields() {
      // Includes the path, so equal values of two fields differ.
      fields ??= Object.fromEntries(leaves().map((leaf) => [leaf[0], hash(lineOf(leaf))]))
      return fields
    },
  }
}

function lineOf([path, text]: Leaf): string {
  return `${path}=${text}`
}

/** Sorted paths of added, removed or changed values. */
export function changedFields(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].filter((path) => before[path] !== after[path]).toSorted()
}
