import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { asSecretRef } from '../../../secret-ref.ts'

/** Drops empty values, which the service refuses (R41). */
export function withoutEmpty(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const kept = value === undefined ? undefined : notEmpty(value)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

/** Undefined: empty. */
export function notEmpty(value: Json): Json | undefined {
  if (value === null || value === '') return undefined
  if (Array.isArray(value)) {
    return value.length === 0 ? undefined : value.map((item) => (isObject(item) ? withoutEmpty(item) : item))
  }
  if (!isObject(value) || asSecretRef(value) !== undefined) return value
  const rest = withoutEmpty(value)
  return Object.keys(rest).length === 0 ? undefined : rest
}
