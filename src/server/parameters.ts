import type { FastifyInstance } from 'fastify'
import { parseKey, type Key } from '../kinds/key.ts'
import { knownKey as keyOfAKind, RESOURCE_KINDS } from '../kinds/lookup.ts'
import { nearest } from '../lib/nearest.ts'
import type { StatusBoard } from '../contract/status.ts'
import { RequestError } from './replies.ts'

/** The parameters of a query string as fastify gives them: text, a list when repeated, or not there. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** The one value of a parameter; undefined when it is absent or empty. */
export function oneOf(query: Query, name: string): string | undefined {
  const value = query[name]
  if (typeof value === 'object') throw new RequestError(400, `${name} appears more than once`, 'Use it once.')
  return value === undefined || value === '' ? undefined : value
}

/** All values of a parameter that may be repeated; empty ones are left out. */
export function textsOf(query: Query, name: string): readonly string[] {
  return [query[name] ?? []].flat().filter((text) => text !== '')
}

/** A comma list or a repeated parameter of known words; undefined when it is absent. */
export function wordsOf<T extends string>(
  query: Query,
  name: string,
  known: readonly T[],
): ReadonlySet<T> | undefined {
  const words = textsOf(query, name)
    .flatMap((text) => text.split(','))
    .filter((word) => word !== '')
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

/** A whole number from `least` to `most`; `absent` when it is not given. */
export function wholeOf(
  query: Query,
  name: string,
  range: { readonly least: number; readonly most: number; readonly absent: number },
): number {
  const text = oneOf(query, name)
  if (text === undefined) return range.absent
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= range.least && value <= range.most) return value
  throw new RequestError(
    400,
    `${name} "${text}" is out of range`,
    `It is a whole number from ${range.least} to ${range.most}.`,
  )
}

/** The key of a resource on the board. @throws {RequestError} 404 with the nearest one */
export function knownKey(text: string, board: StatusBoard): Key {
  const key = parseKey(text)
  if (key !== undefined && board.get(key) !== undefined) return key
  const near = nearest(
    text,
    board.list().map((resource) => resource.key),
  )
  throw new RequestError(
    404,
    `there is no resource "${text}"`,
    near === undefined
      ? `A key is Kind/name, with a kind of ${RESOURCE_KINDS.join(', ')}; /api/v1/resources lists them all.`
      : `Did you mean "${near}"?`,
  )
}

/** A key that need not be on the board: history outlives resources. @throws {RequestError} 400 */
export function wellFormedKey(text: string): Key {
  const key = keyOfAKind(text)
  if (key !== undefined) return key
  throw new RequestError(400, `"${text}" is not a key`, `A key is Kind/name, such as "Pipe/orders".`)
}

/** Bodies as people and webhooks send them: none, JSON, or the form that `curl -d key=…` makes. */
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
    throw new RequestError(
      400,
      'the body is not JSON',
      'Send {"key": "Kind/name"}, or nothing for all resources.',
    )
  }
}
