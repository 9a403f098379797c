import type { Operation, ReadableKind, CreateOnceKind, UpsertKind } from '../kinds/definition.ts'
import { notSent } from '../contract/remote-error.ts'
import { isEmpty, oddResourceOf, remoteResourceOf, type RemoteResource } from '../kinds/remote-resource.ts'
import { MAX_PARTIAL_LENGTH } from './http-exchange.ts'
import { isUuid } from '../lib/same-id.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../lib/json.ts'

export const WIRE = {
  statusField: 'status',
  requestIdField: 'requestId',
  valueField: { services: 'result', alerts: 'data' },
  idempotencyHeader: 'Idempotency-Key',
  /** File names in the mounted secret of an API key. */
  keyIdKey: 'keyId',
  keySecretKey: 'keySecret',
} as const

/** Fills in the ids, encoded. @throws {RemoteError} `Rejected` for an id that no path can carry, such as `..` */
export function pathOf(template: string, ids: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_whole, name: string) => segment(name, ids[name] ?? ''))
}

function segment(name: string, id: string): string {
  // `.` and `..` are path steps, even if they are encoded.
  if (/^\.{0,2}$/.test(id)) {
    throw notSent('Rejected', `"${id}" is not a valid ${name}; correct it in the manifest`)
  }
  const text = id.toWellFormed()
  return encodeURIComponent(isUuid(text) ? text.toLowerCase() : text)
}

export function baseOf(url: string): { readonly origin: string; readonly path: string } {
  const { origin, pathname } = new URL(url)
  return { origin, path: pathname.replace(/\/+$/, '') }
}

export interface ReplyBody {
  /** Undefined: unreadable, or an error, whatever the status line says. */
  readonly json: JsonObject | undefined
  readonly requestId: string | undefined
  /** Whether the body repeats the status and has a UUID as request id, as the platform's replies do. */
  readonly isPlatforms: boolean
  /** Id of a created resource, even from an incomplete body. A number keeps all its digits. */
  readonly repliedId: string | undefined
}

export const NO_BODY: ReplyBody = {
  json: undefined,
  requestId: undefined,
  isPlatforms: false,
  repliedId: undefined,
}

/** Never throws. From incomplete JSON, reads only the id. */
export function readBody(text: string, status: number): ReplyBody {
  const json = parseJson(text)
  if (!isObject(json)) return { ...NO_BODY, repliedId: idInText(text) }
  const requestId = plainId(json[WIRE.requestIdField])
  return {
    json: showsError(json) ? undefined : json,
    requestId,
    isPlatforms: isUuid(requestId) && json[WIRE.statusField] === status,
    repliedId: idInJson(json, text),
  }
}

export type ReadValue<T> = (json: JsonObject) => T | undefined

export function readingOf({ noun, operations }: ReadableKind, service: unknown): Operation {
  const own = 'readInService' in operations ? operations.readInService : undefined
  const reading = service === undefined ? operations.read : (own ?? operations.read)
  if (reading === undefined) throw new Error(`there is no request to read a ${noun}`)
  return reading
}

/** A reply with the id of another resource counts as unreadable. */
export function resourceWithId(
  { lifecycle, reply }: ReadableKind,
  { api }: Operation,
  id: string,
): ReadValue<RemoteResource> {
  return (json) => {
    const found = remoteResourceOf(reply, json[WIRE.valueField[api]])
    const isAnswer = lifecycle === 'upsert' || found?.id.toLowerCase() === id.toLowerCase()
    return isAnswer ? found : undefined
  }
}

/** From an unexpected shape, takes only the id: the next read returns the rest. */
export function createdResource({ operations, reply }: CreateOnceKind): ReadValue<RemoteResource> {
  return (json) => {
    const result = json[WIRE.valueField[operations.create.api]]
    const id = result !== undefined && isObject(result) ? result['id'] : undefined
    return remoteResourceOf(reply, result) ?? (typeof id === 'string' && id !== '' ? { id } : undefined)
  }
}

/** Marks unreadable items. A list as long as the limit counts as unreadable, because resources might be missing. */
export function listedResources({ reply, operations }: CreateOnceKind): ReadValue<readonly RemoteResource[]> {
  return (json) => {
    const list = json[WIRE.valueField.services]
    if (!Array.isArray(list) || list.length >= (operations.list?.most ?? Infinity)) return undefined
    return list.map((item: Json, index) => remoteResourceOf(reply, item) ?? oddResourceOf(reply, item, index))
  }
}

export function upsertedResource({ operations, reply }: UpsertKind): ReadValue<RemoteResource> {
  return (json) => remoteResourceOf(reply, json[WIRE.valueField[operations.upsert.api]])
}

function showsError({ [WIRE.statusField]: status, error }: JsonObject): boolean {
  return !isEmpty(error) || (typeof status === 'number' && status >= 300)
}

function idInJson(json: JsonObject, text: string): string | undefined {
  const result = json[WIRE.valueField.services]
  const id = result !== undefined && isObject(result) ? result['id'] : undefined
  if (typeof id === 'string') return id
  // The parser drops digits of long numbers, so the text is searched.
  return typeof id === 'number' ? idInText(text) : undefined
}

/** A string is one match, because backtracking per character would overflow the stack. */
const TOKEN = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+)/gy

function idInText(text: string): string | undefined {
  /** Names of the fields around the token, outermost first. '' in a list. */
  const path: string[] = []
  let before = ''
  for (const [, token = ''] of text.slice(0, MAX_PARTIAL_LENGTH).matchAll(TOKEN)) {
    const isId = path.length === 2 && path[0] === WIRE.valueField.services && path[1] === 'id'
    if (isId && before === ':' && token.startsWith('"')) return token.slice(1, -1)
    if (isId && (token === ',' || token === '}') && /^-?\d/.test(before)) return before
    if (token === ':') path.splice(-1, 1, before.slice(1, -1))
    else if (token === '{' || token === '[') path.push('')
    else if (token === '}' || token === ']') path.pop()
    before = token
  }
  return undefined
}

function plainId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value) ? value : undefined
}
