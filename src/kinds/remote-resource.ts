import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { RawText } from '../lib/mask/secret-mask.ts'
import { type Field, type Fields, isRequestOnly, plainForm } from './field-table.ts'

/*
 * Replies are read loosely: what we need must be there, what we do not know is left alone. A platform that answers with more
 * fields than the interface names must not stop us. By tables and not by zod: this runs at every reading of a resource, and
 * a reply is taken as it came.
 */

/** What a field is when it is there; `null` counts as absent, but for an id. */
type FieldType = 'id' | 'text' | 'texts' | 'object' | 'objects'

/** The fields of a reply that are looked at. */
export type ReplyShape = Readonly<Record<string, FieldType>> & { readonly id: 'id' }

/** Marks an item of a list that is not what its shape says. No field of a reply has this name. */
export const ODD: unique symbol = Symbol('odd')

/** What is odd about an item of a list. */
export interface Odd {
  readonly index: number
  /** Fields that cannot be read, and that are left out. Undefined: the item is no object. */
  readonly fields: readonly string[] | undefined
}

/** A resource as a reply says it: what the engine asks for, of every kind, and whatever else came with it. */
export type RemoteResource = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly serviceId?: string | null | undefined
  readonly name?: string | null | undefined
  readonly state?: RawText | null | undefined
  readonly createdAt?: string | null | undefined
  readonly [ODD]?: Odd
}

/** Texts of every kind, where a reply has them. */
const COMMON = { serviceId: 'text', name: 'text', state: 'text', createdAt: 'text' } as const

/** The resource that a part of a reply is, or `undefined` when it is not what the shape says. */
export function remoteResourceOf(shape: ReplyShape, value: Json | undefined): RemoteResource | undefined {
  if (value === undefined || !isObject(value)) return undefined
  for (const [name, type] of Object.entries({ ...COMMON, ...shape })) {
    if (!fits(type, Object.hasOwn(value, name) ? value[name] : undefined)) return undefined
  }
  return value as RemoteResource // each field was looked at
}

/** An item of a list that is not what the shape says, with the fields that can be read. Without an id, its place is its id. */
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

/** The items of a list that are odd, in words: their place, their id if they have one, and what cannot be read. */
export function oddItemsOf(list: readonly RemoteResource[]): readonly string[] {
  return list.flatMap((item) => {
    const odd = item[ODD]
    if (odd === undefined) return []
    const hasId = odd.fields?.includes('id') === false
    const id = hasId ? ` (id ${item.id.slice(0, MAX_ID_LENGTH)})` : ''
    return [`index ${odd.index}${id}: ${odd.fields?.join(', ') ?? 'not an object'}`]
  })
}

/** A name, state or time is much shorter. */
const MAX_TEXT_LENGTH = 64 * 1024

/** An id that the platform gives can have any length. */
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

/** What replies have beside the fields of a manifest (2.1, 2.7): texts. */
export const ABOUT: Fields = {
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

/** Of a reply only the fields of a manifest, as {@link returnedBody} has them. */
export function comparedBody(fields: Fields, body: JsonObject): JsonObject {
  return objectOf(fields, body)
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

function valueOf(field: Field, value: Json): Json | undefined {
  if (value === null || isRequestOnly(field)) return undefined
  const form = plainForm(field)
  if (typeof form === 'string') return isPlain(value) ? value : undefined
  if (Array.isArray(value)) return value.filter(isObject).map((item) => objectOf(form.fields, item))
  return isObject(value) ? objectOf(form.fields, value) : undefined
}

/** A text, a number, true or false; or a list of them. */
function isPlain(value: Json): boolean {
  if (Array.isArray(value)) return value.every((item) => !isObject(item) && !Array.isArray(item))
  return !isObject(value)
}
