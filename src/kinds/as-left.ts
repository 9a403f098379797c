import { isObject, type JsonObject } from '../lib/json.ts'
import type { Leaf } from './canonical.ts'
import { fieldFor, howOftenReturned, type Fields } from './field-table.ts'
import { canonicalLeaf, factsOfForm } from './leaf-forms.ts'
import { createLabels } from './record-pairs.ts'

/* Hashes show changes since the last read. Replies can include defaults at times. */

/** A longer list has one text per field of all items. This keeps the record small. */
const MAX_ITEMS = 10

/** Canonical text by field path. */
export function flatLeaves(fields: Fields, reply: JsonObject): JsonObject {
  return Object.fromEntries(leavesOf(fields, reply, ''))
}

function leavesOf(fields: Fields, value: JsonObject, prefix: string): readonly Leaf[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    if (inner === undefined || inner === null) return []
    const path = `${prefix}${name}`
    const { form, keyedBy, fields: below } = fieldFor(fields, name, inner)
    if (form !== undefined) {
      const text = inner === factsOfForm(form).unset ? undefined : canonicalLeaf(form, inner)
      return text === undefined ? [] : [[path, text]]
    }
    if (keyedBy !== undefined) {
      const labelOf = createLabels(keyedBy)
      const items = (Array.isArray(inner) ? inner : [])
        .filter(isObject)
        .map((item) => ({ item, label: labelOf(item) }))
        .toSorted((a, b) => (a.label < b.label ? -1 : 1))
      const leaves = items.flatMap(({ item, label }, index) => {
        const place = `${path}[${items.length > MAX_ITEMS ? '' : index}]`
        const leaf: Leaf = [place, '']
        return [leaf, ...leavesOf(below, item, `${place}.`)].map(([field, text]): Leaf => [
          field,
          `${label}=${text}`,
        ])
      })
      return [...Map.groupBy(leaves, ([field]) => field)].map(([field, texts]): Leaf => [
        field,
        texts
          .map(([, text]) => text)
          .toSorted()
          .join('\n'),
      ])
    }
    return isObject(inner) ? leavesOf(below, inner, `${path}.`) : []
  })
}

type Hashes = Readonly<Record<string, string>>

/**
 * Sorted.
 * @param left all fields seen; defaults can be missing later
 * @param asked fields of the manifest, which replies always show if at all
 */
export function changedSinceLeft(
  fields: Fields,
  left: Hashes,
  now: Hashes,
  asked: Hashes,
): readonly string[] {
  const isGone = (path: string) =>
    path.endsWith(']') || (asked[path] !== undefined && howOftenReturned(fields, path) === 'always')
  const paths = new Set([...Object.keys(left), ...Object.keys(now)])
  return [...paths]
    .filter((path) => (now[path] === undefined ? isGone(path) : now[path] !== left[path]))
    .toSorted()
}
