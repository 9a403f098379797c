import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { asSecretRef } from '../../../secret-ref.ts'

/** What is empty is refused by the service, and so it is not sent (R41), wherever it stands. */
export function withoutEmpty(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const kept = value === undefined ? undefined : notEmpty(value)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

/** A value as it is sent, or `undefined` when nothing of it is. */
export function notEmpty(value: Json): Json | undefined {
  if (value === null || value === '') return undefined
  if (Array.isArray(value)) {
    return value.length === 0 ? undefined : value.map((item) => (isObject(item) ? withoutEmpty(item) : item))
  }
  if (!isObject(value) || asSecretRef(value) !== undefined) return value
  const rest = withoutEmpty(value)
  return Object.keys(rest).length === 0 ? undefined : rest
}
