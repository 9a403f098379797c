import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { Fields, Form, RequestOnly } from './field-table.ts'

/** What replies have beside the fields of a manifest (2.1, 2.7): texts. */
const ABOUT: Fields = {
  id: 'text',
  organizationId: 'text',
  serviceId: 'text',
  state: 'text',
  createdAt: 'text',
  updatedAt: 'text',
}

/**
 * Of a reply only what the interface says that the platform returns. What else is in it is nobody's business here, and
 * may be a request that is repeated with all its secrets, under names that tell nothing. `null` counts as absent, as everywhere.
 */
export function returnedBody(fields: Fields, body: JsonObject): JsonObject {
  return objectOf({ ...fields, ...ABOUT }, body)
}

function objectOf(fields: Fields, value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const inner = Object.hasOwn(value, name) ? value[name] : undefined
      const kept = inner === undefined ? undefined : valueOf(field, inner)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

function valueOf(field: Form | RequestOnly, value: Json): Json | undefined {
  if (value === null) return undefined
  if (typeof field === 'string') return isPlain(value) ? value : undefined
  if ('requestOnly' in field) return undefined
  if (Array.isArray(value)) return value.filter(isObject).map((item) => objectOf(field.fields, item))
  return isObject(value) ? objectOf(field.fields, value) : undefined
}

/** A text, a number, true or false; or a list of them. */
function isPlain(value: Json): boolean {
  if (Array.isArray(value)) return value.every((item) => !isObject(item) && !Array.isArray(item))
  return !isObject(value)
}
