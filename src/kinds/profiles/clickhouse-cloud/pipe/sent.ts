import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { asSecretRef } from '../../../secret-ref.ts'

/** Drops empty values, because the service refuses them. @param unset further values that count as empty */
export function withoutEmpty(body: JsonObject, ...unset: readonly Json[]): JsonObject {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const kept = value === undefined ? undefined : notEmpty(value, ...unset)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

export function notEmpty(value: Json, ...unset: readonly Json[]): Json | undefined {
  if (value === null || value === '' || unset.includes(value)) return undefined
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => (isObject(item) ? withoutEmpty(item, ...unset) : item))
    return items.length === 0 ? undefined : items
  }
  if (!isObject(value) || asSecretRef(value) !== undefined) return value
  const rest = withoutEmpty(value, ...unset)
  return Object.keys(rest).length === 0 ? undefined : rest
}
