import type { FastifyInstance } from 'fastify'
import { parseKey, type Key } from '../kinds/key.ts'
import { knownKey, RESOURCE_KINDS } from '../kinds/lookup.ts'
import type { z } from '../kinds/zod.ts'
import { nearest } from '../lib/nearest.ts'
import type { ResourceView, StatusBoard } from '../contract/view.ts'
import { RequestError } from './replies.ts'

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** Limits, because each value of a query is searched in thousands of resources. */
export const LIMITS = {
  /** Most values of one parameter, whether it is repeated or a comma list. */
  values: 100,
  labels: 16,
  words: 16,
  letters: 100,
  text: 500,
  /** Letters of a path: no file system allows more. */
  path: 4_096,
  page: 500,
} as const

/** A parameter that must not repeat. Undefined: absent or empty. @throws {RequestError} 400 */
export function singleOf(query: Query, name: string, longest: number = LIMITS.text): string | undefined {
  const value = query[name]
  if (typeof value === 'object') throw new RequestError(400, `${name} appears more than once`, 'Use it once.')
  if (value === undefined || value === '') return undefined
  assertShort(value, name, longest)
  return value
}

/** A parameter that can repeat. @throws {RequestError} 400 */
export function textsOf(query: Query, name: string, most: number): readonly string[] {
  const texts = [query[name] ?? []].flat().filter((text) => text !== '')
  assertFew(texts, name, most)
  for (const text of texts) assertShort(text, name, LIMITS.text)
  return texts
}

/** A parameter that can repeat or be a comma list. @throws {RequestError} 400 */
export function listOf(query: Query, name: string): readonly string[] {
  const texts = [query[name] ?? []].flat()
  assertFew(texts, name, LIMITS.values)
  const values = texts.flatMap((text) => text.split(',')).filter((value) => value !== '')
  assertFew(values, name, LIMITS.values)
  for (const value of values) assertShort(value, name, LIMITS.text)
  return values
}

/** The distinct words of `q`, in lower case. @throws {RequestError} 400 */
export function searchWords(query: Query): readonly string[] {
  const text = singleOf(query, 'q', Infinity)
  if (text === undefined) return []
  const words = text.split(/\s+/).filter((word) => word !== '')
  const hint = `q takes at most ${LIMITS.words} words of ${LIMITS.letters} letters each. Leave some out.`
  if (words.length > LIMITS.words) throw new RequestError(400, `q has ${words.length} words`, hint)
  const long = words.find((word) => word.length > LIMITS.letters)
  if (long !== undefined) throw new RequestError(400, `q has a word of ${long.length} letters`, hint)
  return [...new Set(words.map((word) => word.toLowerCase()))]
}

function assertFew(values: readonly string[], name: string, most: number): void {
  if (values.length <= most) return
  throw new RequestError(400, `${name} has ${values.length} values`, `It takes at most ${most}.`)
}

function assertShort(value: string, name: string, longest: number): void {
  if (value.length <= longest) return
  const error = `${name} has a value of ${value.length} letters`
  throw new RequestError(400, error, `It takes at most ${longest} letters.`)
}

/** @throws {RequestError} 400 for a word that is not `known` */
export function wordsOf<T extends string>(
  query: Query,
  name: string,
  known: readonly T[],
): ReadonlySet<T> | undefined {
  const words = listOf(query, name)
  if (words.length === 0) return undefined
  return new Set(words.map((word) => knownWord(word, name, known)))
}

function knownWord<T extends string>(word: string, name: string, known: readonly T[]): T {
  const found = known.find((candidate) => candidate === word)
  if (found !== undefined) return found
  const near = nearest(word, known)
  throw new RequestError(
    400,
    `${name} "${word}" is not known`,
    near === undefined ? `It is one of ${known.join(', ')}.` : `Did you mean "${near}"?`,
  )
}

/** @throws {RequestError} 400 if it is out of range */
function integerOf(
  query: Query,
  name: string,
  range: { readonly least: number; readonly most: number; readonly absent: number },
): number {
  const text = singleOf(query, name)
  if (text === undefined) return range.absent
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= range.least && value <= range.most) return value
  throw new RequestError(
    400,
    `${name} "${text}" is out of range`,
    `Give a whole number from ${range.least} to ${range.most}.`,
  )
}

export interface Part {
  readonly offset: number
  readonly limit: number
}

/** @param limit `absent`: if the query has none @throws {RequestError} 400 */
export function partOf(query: Query, limit = { least: 1, absent: 100 }): Part {
  return {
    offset: integerOf(query, 'offset', { least: 0, most: 10_000_000, absent: 0 }),
    limit: integerOf(query, 'limit', { ...limit, most: LIMITS.page }),
  }
}

/** The named parameters in this order, so equal requests share a cached reply. */
export function pickedOf(query: Query, names: readonly string[]): Query {
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = [query[name] ?? []].flat().filter((value) => value !== '')
      return values.length === 0 ? [] : [[name, values.length === 1 ? values[0] : values]]
    }),
  )
}

export interface Paged<T> {
  readonly items: readonly T[]
  readonly total: number
  /** Relative address of the next page. Undefined: this is the last. */
  readonly next: string | undefined
}

export function paged<T>(all: readonly T[], { offset, limit }: Part, query: Query): Paged<T> {
  const end = offset + limit
  const next = end < all.length ? nextPage(query, { offset: String(end) }) : undefined
  return { items: all.slice(offset, end), total: all.length, next }
}

/** @param changes a value of undefined removes the parameter */
export function nextPage(query: Query, changes: Readonly<Record<string, string | undefined>>): string {
  const next = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (!Object.hasOwn(changes, name)) for (const each of [value ?? []].flat()) next.append(name, each)
  }
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) next.set(name, value)
  return `?${next.toString()}`
}

/** @throws {RequestError} 404 with the nearest key */
export function shownView(text: string, board: StatusBoard): ResourceView {
  const key = parseKey(text)
  const view = key && board.get(key)
  if (view !== undefined) return view
  const keys = board.list().map((resource) => resource.key)
  const near = nearest(text, keys)
  throw new RequestError(
    404,
    `there is no resource "${text}"`,
    near === undefined
      ? `A key is Kind/name. The kind is one of ${RESOURCE_KINDS.join(', ')}. See all keys at /api/v1/resources.`
      : `Did you mean "${near}"?`,
  )
}

/** The key need not exist, because history outlives resources. @throws {RequestError} 400 */
export function wellFormedKey(text: string): Key {
  const key = knownKey(text)
  if (key !== undefined) return key
  throw new RequestError(400, `"${text}" is not a key`, `A key is Kind/name, such as "Pipe/orders".`)
}

/** @throws {RequestError} 400 */
export function parsedBody<T>(schema: z.ZodType<T>, body: unknown, hint: string): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new RequestError(400, 'the request is not understood', hint)
}

/** A body can be empty, JSON, or a form as `curl -d key=…` sends it. */
export function registerBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    try {
      done(null, parseBody(String(body), request.headers['content-type'] ?? ''))
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

function parseBody(text: string, contentType: string): unknown {
  if (text.trim() === '') return undefined
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(text))
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestError(400, 'the body is not JSON', 'See docs/reference/api.md.')
  }
}
