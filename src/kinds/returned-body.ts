import { isObject, sameJson, type Json, type JsonObject } from '../lib/json.ts'
import { isRecords, type Fields, type Form, type RequestOnly } from './body-shape.ts'

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
 * may be a request that is repeated with all its secrets, under names that tell nothing.
 */
export function returnedBody(fields: Fields, body: JsonObject): JsonObject {
  return objectOf({ ...fields, ...ABOUT }, body)
}

/**
 * What a reply says otherwise than a body that is known, of what the platform returns: a merge patch (RFC 7396), which
 * leads from that body to one with the same {@link returnedBody} as the reply. `null` counts as absent, as everywhere.
 */
export function returnedPatch(fields: Fields, known: JsonObject, reply: JsonObject): JsonObject {
  return patchOf({ ...fields, ...ABOUT }, known, reply) ?? {}
}

function patchOf(fields: Fields, known: JsonObject, reply: JsonObject): JsonObject | undefined {
  let patch: Record<string, Json> | undefined
  for (const name of Object.keys(reply)) {
    const field = returnedField(fields, name)
    if (field === undefined) continue
    const change = changeOf(field, Object.hasOwn(known, name) ? known[name] : undefined, reply[name])
    if (change !== undefined) (patch ??= {})[name] = change
  }
  for (const name of Object.keys(known)) {
    if (isThere(known[name]) && !Object.hasOwn(reply, name) && returnedField(fields, name) !== undefined)
      (patch ??= {})[name] = null
  }
  return patch
}

/** What a merge patch says of one field; `undefined`: nothing. */
function changeOf(field: Form, known: Json | undefined, reply: Json | undefined): Json | undefined {
  if (typeof field === 'object' && !isRecords(field) && isObject(known) && isObject(reply))
    return patchOf(field.fields, known, reply)
  if (sameJson(known, reply)) return undefined
  const kept = isThere(reply) ? valueOf(field, reply) : undefined
  return kept ?? (isThere(known) ? null : undefined)
}

function isThere(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}

function returnedField(fields: Fields, name: string): Form | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof field === 'object' && 'requestOnly' in field ? undefined : field
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
  if (value === null) return null
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
