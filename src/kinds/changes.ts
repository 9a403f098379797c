import type { JsonObject } from '../lib/json.ts'
import type { RestStates } from './state.ts'

/** Requests that change a resource, in the order of sending. */
export const WAYS = ['update', 'configure', 'scale'] as const

export type Way = (typeof WAYS)[number]

export interface Compared {
  readonly desired: JsonObject
  readonly observed: JsonObject
}

export interface Changes {
  /**
   * @param field dotted path. For an item of a list, the path of the list
   * @param fields all fields that the same edit changes
   * @returns the request that changes the field, or undefined if the field cannot change
   */
  wayOf(field: string, fields: ReadonlySet<string>, compared: Compared): Way | undefined
  request(way: Way, fields: ReadonlySet<string>, compared: Compared): JsonObject
  /** Whether a second request must follow, because a changed table is removed first and then added. */
  isFollowed(fields: ReadonlySet<string>, compared: Compared): boolean
  /** Whether items still have to be added to the list or removed. */
  isLeft(field: string, compared: Compared): boolean
  /** Whether the resource must be stopped while this field changes. */
  needsRest(field: string): boolean
  /** Whether the text of a refusal says that the resource must be stopped first. */
  asksForRest(said: string): boolean
  /** Whether replies show a new value of the field only minutes after its change. */
  isSlow(field: string): boolean
  /** An update replaces all fields, so Pipewright first reads the resource. */
  readonly replacesWhole?: true
  readonly rest: RestStates
}

export function fieldOfPath(path: string): string {
  const bracket = path.indexOf('[')
  return bracket === -1 ? path : path.slice(0, bracket)
}
