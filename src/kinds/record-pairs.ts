import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { Fields } from './field-table.ts'
import { canonicalLeaf } from './leaf-forms.ts'
import { showName, showText } from './difference.ts'
import { maskSensitive } from './mask.ts'

type KeyNames = readonly string[]

/** Pairs items by their keys, in any order. An unset key field matches any value. Equal items pair first. */
export function pairUp(
  names: KeyNames,
  desired: readonly Json[],
  observed: readonly Json[],
  isSame: (want: JsonObject, have: JsonObject) => boolean,
): {
  readonly pairs: readonly (readonly [JsonObject, JsonObject])[]
  readonly missing: readonly JsonObject[]
  readonly extra: readonly Json[]
} {
  const items = observed.filter((item) => item !== null)
  const objects = items.filter(isObject)
  const left = new Set(items)
  const byKey = Map.groupBy(objects, (item) => keyText(names, item))
  const pairs: (readonly [JsonObject, JsonObject])[] = []

  function candidates(want: JsonObject): readonly JsonObject[] {
    const near = isWhole(names, want) ? (byKey.get(keyText(names, want)) ?? []) : objects
    return near.filter((item) => left.has(item) && agrees(names, want, item))
  }

  function pair(want: JsonObject, have: JsonObject | undefined): boolean {
    if (have === undefined) return false
    left.delete(have)
    pairs.push([want, have])
    return true
  }

  const wanted = desired.filter(isObject)
  const ordered = [
    ...wanted.filter((want) => isWhole(names, want)),
    ...wanted.filter((want) => !isWhole(names, want)),
  ]
  const unequal = ordered.filter(
    (want) =>
      !pair(
        want,
        candidates(want).find((have) => isSame(want, have)),
      ),
  )
  const missing = unequal.filter((want) => !pair(want, candidates(want)[0]))
  return { pairs, missing, extra: [...left] }
}

/** Names an item by its key fields, such as `public.orders`. A repeated name becomes `public.orders#2`. */
export function createLabels(names: KeyNames): (item: Json) => string {
  const counts = new Map<string, number>()
  return (item) => {
    const parts = isObject(item) ? names.map((name) => item[name]) : []
    const label = showName(parts.filter((part) => typeof part === 'string').join('.')) || '?'
    const count = counts.getOrInsert(label, 0) + 1
    counts.set(label, count)
    return count === 1 ? label : `${label}#${count}`
  }
}

export function summarize(keys: KeyNames, fields: Fields, item: Json): string {
  const shown = maskSensitive(isObject(item) ? item : { item })
  const names = isObject(item) ? Object.keys(fields) : ['item']
  const rest = names.filter((name) => !keys.includes(name) && isSet(shown[name]))
  const texts = rest.map((name) => {
    const value = shown[name]
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return rest.length === 1 ? text : `${name}: ${text}`
  })
  return texts.length === 0 ? '(set)' : showText(texts.join(', '))
}

function keyText(names: KeyNames, item: JsonObject): string {
  return names.map((name) => canonicalLeaf('text', item[name]) ?? '').join('\n')
}

function isWhole(names: KeyNames, item: JsonObject): boolean {
  return names.every((name) => isSet(item[name]))
}

function isSet(value: Json | undefined): boolean {
  return canonicalLeaf('text', value) !== undefined
}

function agrees(names: KeyNames, want: JsonObject, item: JsonObject): boolean {
  return names.every((name) => {
    const part = canonicalLeaf('text', want[name])
    return part === undefined || part === canonicalLeaf('text', item[name])
  })
}
