import { isObject, type JsonObject } from '../lib/json.ts'
import type { Leaf } from './fingerprint.ts'
import { fieldFor, howOftenReturned, type Fields } from './field-table.ts'
import { canonicalLeaf, factsOfForm } from './leaf-forms.ts'
import { createLabels } from './record-pairs.ts'
import { isEmpty } from './remote-resource.ts'

/* A record has hashes of the reply at the last sync, to find fields that were changed elsewhere since then. */

/** Maximum items of a list that get hashes of their own, because records must stay small. */
const MAX_ITEMS = 10

const EMPTY = '.{}'

/** Canonical texts by field path. @param shown the same reply, before empty fields were removed */
export function flatLeaves(fields: Fields, reply: JsonObject, shown: JsonObject = {}): JsonObject {
  return Object.fromEntries([...leavesOf(fields, reply, ''), ...emptyLeaves(fields, shown, '')])
}

function emptyLeaves(fields: Fields, shown: JsonObject, prefix: string): readonly Leaf[] {
  return Object.entries(shown).flatMap(([name, inner]) => {
    if (inner === undefined || !Object.hasOwn(fields, name)) return []
    const path = `${prefix}${name}`
    if (isEmpty(inner)) return [[`${path}${EMPTY}`, 'empty']]
    const { keyedBy, fields: below } = fieldFor(fields, name, inner)
    return below !== undefined && keyedBy === undefined && isObject(inner)
      ? emptyLeaves(below, inner, `${path}.`)
      : []
  })
}

/**
 * Whether the field, or an object around it, was empty at the last sync. False for fields of the manifest, or of only
 * some replies.
 */
export function wasEmpty(fields: Fields, left: Hashes, asked: Hashes, path: string): boolean {
  const isKnown = asked[path] !== undefined || howOftenReturned(fields, path) === 'at times'
  const names = isKnown ? [] : path.split('.')
  return names.some((_name, at) => left[`${names.slice(0, at + 1).join('.')}${EMPTY}`] !== undefined)
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
 * Sorted paths of the fields that changed since the last sync.
 * @param left hashes at the last sync
 * @param asked hashes of the manifest's fields. If replies now lack one of these fields, it counts as changed.
 */
export function changedSinceSync(
  fields: Fields,
  left: Hashes,
  now: Hashes,
  asked: Hashes,
): readonly string[] {
  const isGone = (path: string) =>
    path.endsWith(']') || (asked[path] !== undefined && howOftenReturned(fields, path) === 'always')
  const paths = new Set([...Object.keys(left), ...Object.keys(now)])
  return [...paths]
    .filter((path) => !path.endsWith(EMPTY))
    .filter((path) => (now[path] === undefined ? isGone(path) : now[path] !== left[path]))
    .toSorted()
}
