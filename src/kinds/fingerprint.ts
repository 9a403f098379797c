import type { JsonObject } from '../lib/json.ts'
import type { Fields } from './field-table.ts'
import { canonicalLeaves, type Leaf } from './canonical.ts'

/**
 * What a body asks for, without holding it: a digest of the whole and one of each field by dotted path. Two bodies have
 * the same one exactly when they mean the same. A secretRef counts by its reference: a rotated secret changes nothing.
 */
export function fingerprintBody(
  body: JsonObject,
  options: {
    readonly fields: Fields
    /** A keyed hash: bodies may hold sensitive values. */
    readonly hash: (text: string) => string
    /** When it is known already. */
    readonly digest: string | undefined
  },
): { readonly digest: string; readonly fields: Readonly<Record<string, string>> } {
  const { hash } = options
  const leaves = () => canonicalLeaves(options.fields, body)
  return {
    // canonical texts and paths hold no line break
    digest: options.digest ?? hash(leaves().map(lineOf).join('\n')),
    // Made when somebody asks, which is after an edit only: they are most of the work, and most of the memory.
    get fields() {
      // the path is part of what is hashed, so that equal values of two fields do not show as equal
      return Object.fromEntries(leaves().map((leaf) => [leaf[0], hash(lineOf(leaf))]))
    },
  }
}

function lineOf([path, text]: Leaf): string {
  return `${path}=${text}`
}

/** The paths whose value was added, removed or changed, in order. */
export function changedFields(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].filter((path) => before[path] !== after[path]).toSorted()
}
