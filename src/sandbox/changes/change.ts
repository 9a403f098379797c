import type { JsonObject } from '../../lib/json.ts'
import type { PipeInternals, StoredPipe } from '../stored.ts'

/** A pipe that somebody asks to change. */
export interface Before {
  readonly pipe: StoredPipe
  /** The one that it is in now. */
  readonly state: string
  /** ms since the epoch. */
  readonly now: number
}

/** What becomes of it: all that was asked for, or nothing. */
export type Change = { readonly ok: true; readonly pipe: StoredPipe } | Refusal

export interface Refusal {
  readonly ok: false
  readonly status: number
  /** As the reply has it. Never holds a value of the request: it may be secret. */
  readonly error: string
}

/** How a profile changes pipes. Each takes the body of its request as it came. */
export interface PipeChanges {
  /** What is known of a pipe that was created with `body`. */
  internals(id: string, body: JsonObject): PipeInternals
  update(before: Before, body: JsonObject): Change
  scale(before: Before, body: JsonObject): Change
  configure(before: Before, body: JsonObject): Change
  command(before: Before, body: JsonObject): Change
}

/** A mistake in the body; `error` begins with its place. */
export function mistake(error: string): Refusal {
  return { ok: false, status: 400, error: `BAD_REQUEST: ${error}` }
}

/** Something else is in the way than the body. */
export function obstacle(error: string): Refusal {
  return { ok: false, status: 400, error }
}

/** Sends a pipe through these states, from now on. */
export function moving({ pipe, now }: Before, states: readonly string[]): StoredPipe {
  const { state: _left, ...body } = pipe.body
  return { ...pipe, body, internals: { ...pipe.internals, moves: { since: now, states } } }
}
