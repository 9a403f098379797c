import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { RawText } from '../lib/mask/secret-mask.ts'
import { type Field, type Fields, TEXT } from './field-table.ts'

/* Checks only those fields of a reply that Pipewright uses. Does not use zod, because zod is slower. */

/** `null` counts as absent, except for an id. */
type FieldType = 'id' | 'text' | 'texts' | 'object' | 'objects'

export type ReplyShape = Readonly<Record<string, FieldType>>

/** Marks an invalid item of a list. A symbol cannot collide with a field of a reply. */
export const ODD: unique symbol = Symbol('odd')

export type RemoteResource = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly serviceId?: string | null | undefined
  readonly name?: string | null | undefined
  readonly state?: RawText | null | undefined
  readonly createdAt?: string | null | undefined
  readonly [ODD]?: {
    readonly index: number
    /** Invalid fields, which are left out. Undefined: the item is not an object. */
    readonly fields: readonly string[] | undefined
  }
}

const COMMON: ReplyShape = { id: 'id', serviceId: 'text', name: 'text', state: 'text', createdAt: 'text' }

export function remoteResourceOf(shape: ReplyShape, value: Json | undefined): RemoteResource | undefined {
  if (value === undefined || !isObject(value)) return undefined
  for (const [name, type] of Object.entries({ ...COMMON, ...shape })) {
    if (!fits(type, Object.hasOwn(value, name) ? value[name] : undefined)) return undefined
  }
  return value as RemoteResource // each field was checked
}

/** Keeps the valid fields of an invalid item. Its place in the list replaces an invalid id. */
export function oddResourceOf(shape: ReplyShape, value: Json | undefined, index: number): RemoteResource {
  const place = `at index ${index} of the list`
  if (value === undefined || !isObject(value)) return { id: place, [ODD]: { index, fields: undefined } }
  const types = new Map<string, FieldType>(Object.entries({ ...COMMON, ...shape }))
  const readable = Object.entries(value).filter(([name, field]) => fits(types.get(name), field))
  const kept = Object.fromEntries(readable)
  const fields = [...types.keys()].filter(
    (name) => (name === 'id' || Object.hasOwn(value, name)) && !Object.hasOwn(kept, name),
  )
  const { id } = kept
  return { ...kept, id: typeof id === 'string' ? id : place, [ODD]: { index, fields } }
}

/** Equal if only the order of the list varies. */
export function oddItemsOf(list: readonly RemoteResource[]): readonly string[] {
  const items = list.flatMap((item) => {
    const odd = item[ODD]
    if (odd === undefined) return []
    const hasId = odd.fields?.includes('id') === false
    const which = hasId ? `id ${item.id.slice(0, MAX_ID_LENGTH)}` : `index ${odd.index}`
    return [`${which}: ${odd.fields?.join(', ') ?? 'not an object'}`]
  })
  return items.toSorted()
}

const MAX_TEXT_LENGTH = 64 * 1024

const MAX_ID_LENGTH = 64

function fits(type: FieldType | undefined, value: Json | undefined): boolean {
  if (type === 'id') return typeof value === 'string' && value !== ''
  if (value === undefined || value === null) return true
  switch (type) {
    case 'text':
      return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH
    case 'object':
      return isObject(value)
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
    case 'objects':
      return Array.isArray(value) && value.every(isObject)
    case undefined:
      return true
  }
}

/** Fields of replies that manifests lack. */
const ABOUT: Fields = {
  id: TEXT,
  organizationId: TEXT,
  serviceId: TEXT,
  state: TEXT,
  createdAt: TEXT,
  updatedAt: TEXT,
}

/** Keeps only the fields that the platform documents, because others might repeat secrets. */
export function returnedBody(fields: Fields, body: JsonObject): JsonObject {
  return objectOf({ ...fields, ...ABOUT }, body)
}

export function comparedBody(fields: Fields, body: JsonObject): JsonObject {
  return objectOf(fields, body)
}

/** Fields that the reply has, but manifests cannot have, such as `source.postgres.sshKeyResourceId`. */
export function foreignFields(
  kind: { readonly fields: Fields; setIn?(reply: JsonObject): JsonObject },
  reply: JsonObject,
): readonly (readonly [path: string, value: Json])[] {
  return foreignIn({ ...kind.fields, ...ABOUT }, kind.setIn?.(reply) ?? reply, '')
}

function foreignIn(fields: Fields, object: JsonObject, prefix: string): ReturnType<typeof foreignFields> {
  return Object.entries(object).flatMap(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (value === undefined || isEmpty(value)) return []
    if (field === undefined) return [[`${prefix}${name}`, value] as const]
    if (field.returned === 'never' || field.form !== undefined) return []
    const path = `${prefix}${name}`
    if (field.keyedBy === undefined) return isObject(value) ? foreignIn(field.fields, value, `${path}.`) : []
    const items = Array.isArray(value) ? value.filter(isObject) : []
    return items.flatMap((item) => foreignIn(field.fields, item, `${path}[].`))
  })
}

export function isEmpty(value: Json | undefined, depth = 32): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true
  return (
    typeof value === 'object' && depth > 0 && Object.values(value).every((one) => isEmpty(one, depth - 1))
  )
}

function objectOf(fields: Fields, value: JsonObject): JsonObject {
  const object: Record<string, Json> = {}
  for (const [name, field] of Object.entries(fields)) {
    const inner = Object.hasOwn(value, name) ? value[name] : undefined
    const kept = inner === undefined ? undefined : valueOf(field, inner)
    if (kept !== undefined) object[name] = kept
  }
  return object
}

function valueOf({ form, fields, returned }: Field, value: Json): Json | undefined {
  if (value === null || returned === 'never') return undefined
  if (form !== undefined) return isPlain(value) ? value : undefined
  if (Array.isArray(value)) return value.filter(isObject).map((item) => objectOf(fields, item))
  return isObject(value) ? objectOf(fields, value) : undefined
}

function isPlain(value: Json): boolean {
  if (Array.isArray(value)) return value.every((item) => !isObject(item) && !Array.isArray(item))
  return !isObject(value)
}
