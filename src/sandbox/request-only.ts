import { SECRET_FIELDS } from '../kinds/sensitive-names.ts'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'

/** Fields of a request that no reply carries (`spec/api.md` 2.1, 2.3, 2.4). */
const REQUEST_ONLY: readonly (readonly string[])[] = [
  ['source', 'validateSamples'],
  ['source', 'kafka', 'credentials'],
  ['source', 'kafka', 'schemaRegistry', 'credentials'],
  ['source', 'objectStorage', 'accessKey'],
  ['source', 'managedStream', 'accessKey'],
  ['source', 'postgres', 'credentials'],
  ['destination', 'roles'],
]

/** A pipe as it is kept: what a request says, but for the fields that are never given back. */
export function withoutRequestOnly(pipe: JsonObject): JsonObject {
  return REQUEST_ONLY.reduce(without, pipe)
}

function without(object: JsonObject, path: readonly string[]): JsonObject {
  const [name, ...rest] = path
  if (name === undefined || object[name] === undefined) return object
  const { [name]: member, ...others } = object
  if (rest.length === 0) return others
  return isObject(member) ? { ...object, [name]: without(member, rest) } : object
}

/** `value` with every password and secret key replaced; for what is written to a disk or shown to another process. */
export function maskSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(maskSecrets)
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    SECRET_FIELDS.has(name) ? '[secret]' : maskSecrets(member ?? null),
  ])
  return Object.fromEntries(members)
}
