import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { type Field, fieldAt, fieldFor, type Fields, valueOfUnset } from './field-table.ts'
import { canonicalLeaf, canonicalValue, joined } from './leaf-forms.ts'

/** Equal bodies have equal digests. A rotated secret changes no digest, because only its reference is hashed. */
export function fingerprintBody(
  body: JsonObject,
  options: {
    readonly fields: Fields
    /** A keyed hash, because bodies can be sensitive. */
    readonly hash: (text: string) => string
    readonly digest: string | undefined
  },
): { readonly digest: string; readonly fields: Readonly<Record<string, string>> } {
  const { hash } = options
  const leaves = () => canonicalLeaves(options.fields, body)
  let fields: Readonly<Record<string, string>> | undefined
  return {
    // Line breaks can separate the leaves, because no canonical text or path contains one.
    digest: options.digest ?? hash(leaves().map(lineOf).join('\n')),
    // Computed at the first use, usually after an edit, because this is expensive.
    get fields() {
      // The hash includes the path; otherwise two fields with equal values would have equal hashes.
      fields ??= Object.fromEntries(leaves().map((leaf) => [leaf[0], hash(lineOf(leaf))]))
      return fields
    },
  }
}

function lineOf([path, text]: Leaf): string {
  return `${path}=${text}`
}

/** The hash of the value that counts as not set: the default of the field, or such as `false` of a flag. */
export function unsetHash(fields: Fields, path: string, hash: (text: string) => string): string | undefined {
  const field = fieldAt(fields, path)
  const text = field?.form && canonicalLeaf(field.form, valueOfUnset(field, field.form))
  return text === undefined ? undefined : hash(lineOf([path, text]))
}

export function changedFields(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].filter((path) => before[path] !== after[path]).toSorted()
}

function canonicalRecords(fields: Fields, value: Json): string | undefined {
  if (!Array.isArray(value)) return canonicalLeaf('text', value)
  const items = value.map((item: Json) =>
    isObject(item) ? canonicalItem(fields, item) : canonicalValue(item),
  )
  return joined(items.filter((item) => item !== undefined).toSorted())
}

function canonicalItem(fields: Fields, item: JsonObject): string {
  const members = canonicalLeaves(fields, item).map(
    ([path, text]) => `${JSON.stringify(path)}:${JSON.stringify(text)}`,
  )
  return `{${members.join(',')}}`
}

export type Leaf = readonly [path: string, text: string]

/** Path and canonical text of each set field, sorted by path. A list of objects is one field. */
export function canonicalLeaves(fields: Fields, body: JsonObject): readonly Leaf[] {
  const leaves: Leaf[] = []
  addLeaves(leaves, fields, body, '')
  return leaves
}

function addLeaves(leaves: Leaf[], fields: Fields, body: JsonObject, prefix: string): void {
  // Sorted names give sorted paths, because no name has a character that sorts before the dot.
  for (const name of Object.keys(body).toSorted()) {
    const value = body[name]
    if (value === undefined) continue
    const path = prefix + name
    const field = fieldFor(fields, name, value)
    if (field.form === undefined && field.keyedBy === undefined && isObject(value)) {
      addLeaves(leaves, field.fields, value, `${path}.`)
      continue
    }
    const text = canonicalField(field, value)
    if (text !== undefined) leaves.push([path, text])
  }
}

function canonicalField({ form, keyedBy, fields }: Field, value: Json): string | undefined {
  if (form !== undefined) return canonicalLeaf(form, value)
  return keyedBy === undefined ? canonicalValue(value) : canonicalRecords(fields, value)
}
