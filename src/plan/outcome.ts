import type { Difference } from '../kinds/difference.ts'
import type { Because, FactsOf } from './reason.ts'
import type { Seen } from './record.ts'

/** What became of an action. */
export type Outcome = Done | Failed | Unknown | Stopped

/** Nothing had to be done, or what had to be done is done. */
export type Done = {
  readonly result: 'done'
  /** What still differs. */
  readonly differences: readonly Difference[]
  readonly requestId: string | undefined
} & (
  | Because
  /** It is as the action says. */
  | { readonly reason: undefined; readonly facts: undefined }
)

/** It failed, and certainly had no effect. */
export type Failed = Because & {
  readonly result: 'failed'
  readonly requestId: string | undefined
  /** The platform asked to wait that long: ms. */
  readonly retryAfterMs: number | undefined
  /** What was seen, in words that do not say what was asked for. Undefined: nothing was sent. */
  readonly what?: string | undefined
}

/** A create that may have worked. */
export interface Unknown {
  readonly result: 'unknown'
  readonly facts: FactsOf<'OutcomeUnknown'>
  readonly requestId: string | undefined
  readonly seen: Seen
}

/** The stop came before anything was sent. */
export interface Stopped {
  readonly result: 'stopped'
}

/** The outcome of an action that needs nothing done. */
export const NOTHING_TO_DO: Done = {
  result: 'done',
  reason: undefined,
  facts: undefined,
  differences: [],
  requestId: undefined,
}
