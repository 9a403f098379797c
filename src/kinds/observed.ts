import { isObject, type Json, type JsonObject } from '../lib/json.ts'

/*
 * Replies are read loosely: what we need must be there, what we do not know is left alone. A platform that answers with more
 * fields than the interface names must not stop us. By tables and not by zod: this runs at every look at a resource, and
 * a reply is taken as it came.
 */

/** What a field is when it is there; `null` counts as absent, but for an id. */
type FieldType = 'id' | 'text' | 'texts' | 'object' | 'objects'

interface Types {
  readonly text: string
  readonly texts: readonly string[]
  readonly object: JsonObject
  readonly objects: readonly JsonObject[]
}

type Shape = Readonly<Record<string, FieldType>>

/** Its fields, and whatever else came with them. */
type Observed<S extends Shape> = Readonly<Record<string, unknown>> & {
  readonly [K in keyof S as S[K] extends 'id' ? K : never]: string
} & {
  readonly [K in keyof S as S[K] extends 'id' ? never : K]?: Types[Exclude<S[K], 'id'>] | null | undefined
}

/** `spec/api.md` 2.1. */
const PIPE = {
  id: 'id',
  serviceId: 'text',
  name: 'text',
  state: 'text',
  scaling: 'object',
  source: 'object',
  destination: 'object',
  fieldMappings: 'objects',
  settings: 'object',
  createdAt: 'text',
  updatedAt: 'text',
} as const
export type ObservedPipe = Observed<typeof PIPE>

/** `spec/api.md` 2.7. */
const ENDPOINT = { id: 'id', openApiKeys: 'texts', roles: 'texts', allowedOrigins: 'text' } as const
export type ObservedEndpoint = Observed<typeof ENDPOINT>

/** `spec/api.md` 2.8. */
const ALERT = { id: 'id', name: 'text', state: 'text' } as const
export type ObservedAlert = Observed<typeof ALERT>

/** The pipe that a part of a reply is, or `undefined`. */
export function observedPipe(value: Json | undefined): ObservedPipe | undefined {
  return observed(PIPE, value)
}

export function observedEndpoint(value: Json | undefined): ObservedEndpoint | undefined {
  return observed(ENDPOINT, value)
}

export function observedAlert(value: Json | undefined): ObservedAlert | undefined {
  return observed(ALERT, value)
}

function observed<S extends Shape>(shape: S, value: Json | undefined): Observed<S> | undefined {
  if (value === undefined || !isObject(value)) return undefined
  for (const name of Object.keys(shape)) {
    if (!fits(shape[name], Object.hasOwn(value, name) ? value[name] : undefined)) return undefined
  }
  return value as Observed<S> // each field was looked at
}

function fits(type: FieldType | undefined, value: Json | undefined): boolean {
  if (type === 'id') return typeof value === 'string' && value !== ''
  if (value === undefined || value === null) return true
  switch (type) {
    case 'text':
      return typeof value === 'string'
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
