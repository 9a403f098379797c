import type { JsonObject } from '../lib/json.ts'
import type { RestStates } from './state.ts'

/** The requests that change something that exists, in the order in which they are sent (design §14). */
export const WAYS = ['update', 'configure', 'scale'] as const

export type Way = (typeof WAYS)[number]

/** What a manifest asks for, with references where secrets belong, and what is there. */
export interface Compared {
  readonly desired: JsonObject
  readonly observed: JsonObject
}

/** How fields of something that exists are changed. What no request changes stays as it was created. */
export interface Changes {
  /**
   * The request that changes a field, by its dotted path, in which a list of objects is one field. Undefined: none does.
   * @param fields all that are to be changed together with it
   */
  wayOf(field: string, fields: ReadonlySet<string>, compared: Compared): Way | undefined
  /** The body of a request that changes these fields, with all that has to go with them; references in place. */
  request(way: Way, fields: ReadonlySet<string>, compared: Compared): JsonObject
  /** Whether another request has to follow after this one, once that is seen to be done. */
  isFollowed(fields: ReadonlySet<string>, compared: Compared): boolean
  /** Whether something of a list of objects is there that an edit has taken out: that is no difference to what is asked for. */
  isLeft(field: string, compared: Compared): boolean
  /** Whether it is changed only while the resource is at rest. */
  needsRest(field: string): boolean
  /** Whether a refusal says that it is changed only while it is at rest: the service has no other word for that. */
  asksForRest(said: string): boolean
  /** Whether a new value that was taken shows minutes later. */
  isSlow(field: string): boolean
  /** Whether `update` takes a whole body, so that what is there is read right before, and goes with it. */
  readonly replacesWhole?: true
  /** For a resource whose manifest cannot be read. */
  readonly rest: RestStates
}

/** The field of a path that may point into a list of objects. */
export function fieldOfPath(path: string): string {
  const bracket = path.indexOf('[')
  return bracket === -1 ? path : path.slice(0, bracket)
}
