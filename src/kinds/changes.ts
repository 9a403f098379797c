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
   * By dotted path; a list of objects is one field. Undefined: the field cannot change.
   * @param fields all fields of the same change
   */
  wayOf(field: string, fields: ReadonlySet<string>, compared: Compared): Way | undefined
  /** The request body, including fields that must be sent along. */
  request(way: Way, fields: ReadonlySet<string>, compared: Compared): JsonObject
  isFollowed(fields: ReadonlySet<string>, compared: Compared): boolean
  /** A list keeps an item that an edit removed. This is no drift. */
  isLeft(field: string, compared: Compared): boolean
  /** Whether the resource must be stopped. */
  needsRest(field: string): boolean
  asksForRest(said: string): boolean
  /** Whether an accepted value shows only minutes later. */
  isSlow(field: string): boolean
  /** `update` takes a whole body: the resource is read right before. */
  readonly replacesWhole?: true
  /** For a resource with an unreadable manifest. */
  readonly rest: RestStates
}

export function fieldOfPath(path: string): string {
  const bracket = path.indexOf('[')
  return bracket === -1 ? path : path.slice(0, bracket)
}
