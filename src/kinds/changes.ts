import type { JsonObject } from '../lib/json.ts'
import type { RestStates } from './state.ts'

/** Change requests, in the order of sending. */
export const WAYS = ['update', 'configure', 'scale'] as const

export type Way = (typeof WAYS)[number]

/** The manifest's body (secrets as references) and the observed resource. */
export interface Compared {
  readonly desired: JsonObject
  readonly observed: JsonObject
}

/** How fields change. A field without a request keeps its created value. */
export interface Changes {
  /**
   * The request for a field. Undefined: it cannot change.
   * @param field dotted path; a list of objects is one field
   * @param fields all fields of the same change
   */
  wayOf(field: string, fields: ReadonlySet<string>, compared: Compared): Way | undefined
  /** The request body, including fields that must be sent along. */
  request(way: Way, fields: ReadonlySet<string>, compared: Compared): JsonObject
  isFollowed(fields: ReadonlySet<string>, compared: Compared): boolean
  /** Whether a list still lacks an edit, such as a removal. This is no drift. */
  isLeft(field: string, compared: Compared): boolean
  /** Whether a change of the field needs a stopped resource. */
  needsRest(field: string): boolean
  asksForRest(said: string): boolean
  /** Whether replies show a new value only minutes later. */
  isSlow(field: string): boolean
  /** `update` takes a whole body: the resource is read right before. */
  readonly replacesWhole?: true
  /** Used while the manifest is unreadable. */
  readonly rest: RestStates
}

export function fieldOfPath(path: string): string {
  const bracket = path.indexOf('[')
  return bracket === -1 ? path : path.slice(0, bracket)
}
