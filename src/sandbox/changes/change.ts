import type { JsonObject } from '../../lib/json.ts'
import type { PipeInternals, StoredPipe } from '../stored.ts'

export interface Before {
  readonly pipe: StoredPipe
  readonly state: string
  /** ms since the epoch. */
  readonly now: number
}

/** All or nothing. */
export type Change = { readonly ok: true; readonly pipe: StoredPipe } | Refusal

export interface Refusal {
  readonly ok: false
  readonly status: number
  /** For the reply, without a value of the request: it might be secret. */
  readonly error: string
}

/** Each takes the body of its request. */
export interface PipeChanges {
  /** For a new pipe. */
  internals(id: string, body: JsonObject): PipeInternals
  update(before: Before, body: JsonObject): Change
  scale(before: Before, body: JsonObject): Change
  configure(before: Before, body: JsonObject): Change
  command(before: Before, body: JsonObject): Change
}

/** @param error begins with the place in the body */
export function mistake(error: string): Refusal {
  return { ok: false, status: 400, error: `BAD_REQUEST: ${error}` }
}

export function obstacle(error: string): Refusal {
  return { ok: false, status: 400, error }
}

export function moving({ pipe, now }: Before, states: readonly string[]): StoredPipe {
  const { state: _left, ...body } = pipe.body
  return { ...pipe, body, internals: { ...pipe.internals, moves: { since: now, states } } }
}
