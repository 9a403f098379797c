import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { RecordsForm } from './field-table.ts'
import { canonicalLeaf } from './canonical.ts'
import { showName, showText } from './difference.ts'
import { maskSensitive } from './mask.ts'

/** Names of the fields by which an item of a list is found. */
type KeyNames = readonly string[]

interface Pairing {
  readonly pairs: readonly (readonly [JsonObject, JsonObject])[]
  /** Wanted, and not observed. */
  readonly missing: readonly JsonObject[]
  /** Observed, and not wanted. */
  readonly extra: readonly Json[]
}

/**
 * Finds the observed item of each wanted one, whatever their order. Where a wanted item leaves a part of its key unset,
 * that part may be anything. Equal items find each other first, so that two items of one key are never mixed up.
 */
export function pairUp(
  names: KeyNames,
  desired: readonly Json[],
  observed: readonly Json[],
  isSame: (want: JsonObject, have: JsonObject) => boolean,
): Pairing {
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

/** Names for the items of one list, such as `id` or `public.orders`; the second item of a key is `id#2`. */
export function createLabels(names: KeyNames): (item: Json) => string {
  const counts = new Map<string, number>()
  return (item) => {
    const parts = isObject(item) ? names.map((name) => item[name]) : []
    const label = showName(parts.filter((part) => typeof part === 'string').join('.')) || '?'
    const count = (counts.get(label) ?? 0) + 1
    counts.set(label, count)
    return count === 1 ? label : `${label}#${count}`
  }
}

/** What an item says beside its key, ready to be shown. */
export function summarize(form: RecordsForm, item: Json): string {
  const shown = maskSensitive(isObject(item) ? item : { item })
  const names = isObject(item) ? Object.keys(form.fields) : ['item']
  const rest = names.filter((name) => !form.keyedBy.includes(name) && isSet(shown[name]))
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
