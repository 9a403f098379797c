import { isObject, type JsonObject } from '../lib/json.ts'
import { canonicalLeaf, UNSET } from './canonical.ts'
import { formOf, howOftenReturned, isRecords, type Fields } from './field-table.ts'
import { createLabels } from './record-pairs.ts'

/*
 * Whether something is as it was when it was last seen, without holding what it was: a service fills in defaults, and shows them at times.
 */

/** Each field of a reply by its path, with its canonical text; those of each item of a list of objects by themselves. */
export function flatLeaves(fields: Fields, reply: JsonObject): JsonObject {
  return Object.fromEntries(leavesOf(fields, reply, ''))
}

function leavesOf(fields: Fields, value: JsonObject, prefix: string): readonly (readonly [string, string])[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    if (inner === undefined || inner === null) return []
    const path = `${prefix}${name}`
    const form = formOf(fields, name, inner)
    if (typeof form === 'string') {
      const text = inner === UNSET[form] ? undefined : canonicalLeaf(form, inner)
      return text === undefined ? [] : [[path, text] as const]
    }
    if (isRecords(form)) {
      const labelOf = createLabels(form.keyedBy)
      return (Array.isArray(inner) ? inner : []).filter(isObject).flatMap((item) => {
        const place = `${path}[${labelOf(item)}]`
        return [[place, ''] as const, ...leavesOf(form.fields, item, `${place}.`)]
      })
    }
    return isObject(inner) ? leavesOf(form.fields, inner, `${path}.`) : []
  })
}

/** A hash of each field, by its path. */
type Hashes = Readonly<Record<string, string>>

/**
 * The fields that are not as they were, in order.
 * @param left all that was seen of it; a default may not be shown every time
 * @param asked what its manifest asked for, by field: that is shown every time, where it is returned at all
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
