import type { Operation, ReadableKind, CreateOnceKind, UpsertKind } from '../kinds/definition.ts'
import { notSent } from '../contract/remote-error.ts'
import { oddResourceOf, remoteResourceOf, type RemoteResource } from '../kinds/remote-resource.ts'
import { isUuid } from '../lib/same-id.ts'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'

/**
 * What all requests of the interface have in common, in one value: services that offer it under other names get another value
 * (design §14). Paths stand with the kinds (`src/kinds`); each `{name}` in one is one encoded segment.
 */
export interface Wire {
  /** Fields of the envelope (1). */
  readonly statusField: string
  readonly requestIdField: string
  /** The field of a reply that holds the resource: of the envelope (1), and of the alert reply (4.4). */
  readonly valueField: Readonly<Record<Operation['api'], string>>
  /** Carries the intent id of a create; the interface neither asks for it nor forbids it. */
  readonly idempotencyHeader: string
  /** Keys of the mounted secret that hold the API key (5). */
  readonly keyIdKey: string
  readonly keySecretKey: string
}

/** The names of `spec/api.md`. */
export const DEFAULT_WIRE: Wire = {
  statusField: 'status',
  requestIdField: 'requestId',
  valueField: { services: 'result', alerts: 'data' },
  idempotencyHeader: 'Idempotency-Key',
  keyIdKey: 'keyId',
  keySecretKey: 'keySecret',
}

/**
 * The path of a template; an id can neither add a segment nor step out of one.
 * @throws {RemoteError} `Rejected`, effect none, for an id that no path can carry
 */
export function pathOf(template: string, ids: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_whole, name: string) => segment(name, ids[name] ?? ''))
}

function segment(name: string, id: string): string {
  // Dots alone are a step in the path, also when they are encoded; nothing at all is another path.
  if (/^\.{0,2}$/.test(id)) {
    throw notSent('Rejected', `"${id}" is not a valid ${name}; correct it in the manifest`)
  }
  const text = id.toWellFormed()
  return encodeURIComponent(isUuid(text) ? text.toLowerCase() : text)
}

/** Where requests go: the origin, and the path that stands before every path of the interface. */
export interface Base {
  readonly origin: string
  /** Without a slash at its end. */
  readonly path: string
}

/** @throws {TypeError} when `url` is not a URL */
export function baseOf(url: string): Base {
  const { origin, pathname } = new URL(url)
  return { origin, path: pathname.replace(/\/+$/, '') }
}

/** A body, as far as it could be understood. */
export interface ReplyBody {
  /** `undefined`: not a JSON object. */
  readonly json: JsonObject | undefined
  readonly requestId: string | undefined
  /** In the envelope of the platform (1), and not the words of a proxy: a UUID as request id, and the status of the reply. */
  readonly isPlatforms: boolean
  /** The id of the resource that it holds, as it came: also of a body that was cut, and of a number no digit is lost. */
  readonly repliedId: string | undefined
}

/** No reply came, or none that says anything. */
export const NO_BODY: ReplyBody = {
  json: undefined,
  requestId: undefined,
  isPlatforms: false,
  repliedId: undefined,
}

/** Envelope of `spec/api.md` 1. Never throws. */
export function readBody(text: string, status: number, wire: Wire): ReplyBody {
  const json = jsonObject(text)
  if (json === undefined) return { ...NO_BODY, repliedId: idInText(text, wire) }
  const requestId = plainId(json[wire.requestIdField])
  return {
    json,
    requestId,
    isPlatforms: isUuid(requestId) && json[wire.statusField] === status,
    repliedId: idInJson(json, text, wire),
  }
}

/** How the value of an operation is read from a body; `undefined` when it is not there. */
export type ReadValue<T> = (json: JsonObject, wire: Wire) => T | undefined

/** The request that reads it: that of its service, where it names one. @throws for a kind that cannot be read */
export function readingOf({ noun, operations }: ReadableKind, service: unknown): Operation {
  const own = 'readInService' in operations ? operations.readInService : undefined
  const reading = service === undefined ? operations.read : (own ?? operations.read)
  if (reading === undefined) throw new Error(`there is no request to read a ${noun}`)
  return reading
}

/** 4.2, 4.4. What was created with another id than the one asked for is not an answer. */
export function resourceWithId(
  { lifecycle, reply }: ReadableKind,
  { api }: Operation,
  id: string,
): ReadValue<RemoteResource> {
  return (json, wire) => {
    const found = remoteResourceOf(reply, json[wire.valueField[api]])
    const isAnswer = lifecycle !== 'create-once' || found?.id.toLowerCase() === id.toLowerCase()
    return isAnswer ? found : undefined
  }
}

/**
 * 4.1. The id is what must not be lost: when the rest has a shape that we do not expect, the id alone is the value,
 * and the next reading brings the rest.
 */
export function createdResource({ operations, reply }: CreateOnceKind): ReadValue<RemoteResource> {
  return (json, wire) => {
    const result = json[wire.valueField[operations.create.api]]
    const id = result !== undefined && isObject(result) ? result['id'] : undefined
    return remoteResourceOf(reply, result) ?? (typeof id === 'string' && id !== '' ? { id } : undefined)
  }
}

/** All of a service (facts 3.1). An odd item is marked and stops nothing else. */
export function listedResources({ reply }: CreateOnceKind): ReadValue<readonly RemoteResource[]> {
  return (json, wire) => {
    const list = json[wire.valueField.services]
    if (!Array.isArray(list)) return undefined
    return list.map((item: Json, index) => remoteResourceOf(reply, item) ?? oddResourceOf(reply, item, index))
  }
}

/** 4.3. */
export function upsertedResource({ operations, reply }: UpsertKind): ReadValue<RemoteResource> {
  return (json, wire) => remoteResourceOf(reply, json[wire.valueField[operations.upsert.api]])
}

/** Of a change counts that it was taken. */
export const anything: ReadValue<object> = (json) => json

function jsonObject(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

function idInJson(json: JsonObject, text: string, wire: Wire): string | undefined {
  const result = json[wire.valueField.services]
  const id = result !== undefined && isObject(result) ? result['id'] : undefined
  if (typeof id === 'string') return id
  // The parser drops digits of a long number. A list has no id of its own, and is too long for this.
  return typeof id === 'number' ? idInText(text, wire) : undefined
}

/** A string that is closed, punctuation, or anything else up to the next of these. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/gy

/** The id of the resource in JSON that may end anywhere: it is complete, and a number has all of its digits. */
function idInText(text: string, { valueField }: Wire): string | undefined {
  /** The names of the members that are being read, outermost first; '' in a list. */
  const path: string[] = []
  let before = ''
  for (const [, token = ''] of text.matchAll(TOKEN)) {
    const isId = path.length === 2 && path[0] === valueField.services && path[1] === 'id'
    if (isId && before === ':' && token.startsWith('"')) return token.slice(1, -1)
    if (isId && (token === ',' || token === '}') && /^-?\d/.test(before)) return before
    if (token === ':') path.splice(-1, 1, before.slice(1, -1))
    else if (token === '{' || token === '[') path.push('')
    else if (token === '}' || token === ']') path.pop()
    before = token
  }
  return undefined
}

/** It goes into log lines and messages, so it must be short and plain. */
function plainId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value) ? value : undefined
}
