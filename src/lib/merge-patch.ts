import { isObject, type Json, type JsonObject } from './json.ts'

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
