export type Json = null | boolean | number | string | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [name: string]: Json | undefined
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param path names and indexes, or names joined by dots */
export function valueAt(value: unknown, path: string | readonly (string | number)[]): Json | undefined {
  let at = value
  for (const step of typeof path === 'string' ? path.split('.') : path) {
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, step)
    at = isThere ? (at as JsonObject)[step] : undefined
  }
  return at as Json | undefined // of JSON
}

/** Sorts the names, because equal values must give equal texts. */
export function stableJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${stableJson(value[name])}`)
  return `{${members.join(',')}}`
}

/** Compares as {@link stableJson} does, without building the texts. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return stableJson(a) === stableJson(b)
  }
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  return isObject(a) && isObject(b) && sameMembers(a, b)
}

function sameMembers(a: JsonObject, b: JsonObject): boolean {
  let count = 0
  for (const name of Object.keys(a)) {
    const value = a[name]
    if (value === undefined) continue
    if (!(Object.hasOwn(b, name) && sameJson(value, b[name]))) return false
    count += 1
  }
  const names = Object.keys(b)
  return names.length === count || names.filter((name) => b[name] !== undefined).length === count
}

/** JSON merge patch (RFC 7396). */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, Json | undefined> = { ...target }
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) delete merged[name]
    else if (isObject(change)) {
      const before = merged[name]
      merged[name] = mergePatch(isObject(before) ? before : {}, change)
    } else merged[name] = change
  }
  return merged
}
