import type { Difference } from '../kinds/difference.ts'
import type { Because, FactsOf } from './reason.ts'
import type { Seen } from './record.ts'

export type Outcome = Done | Failed | Unknown | Stopped

export type Done = {
  readonly result: 'done'
  readonly differences: readonly Difference[]
  readonly requestId?: string | undefined
} & (Because | { readonly reason: undefined; readonly facts: undefined })

export type Failed = Because & {
  readonly result: 'failed'
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly what?: string | undefined
}

export interface Unknown {
  readonly result: 'unknown'
  readonly facts: FactsOf<'OutcomeUnknown'>
  readonly requestId?: string | undefined
  readonly seen: Seen
}

export interface Stopped {
  readonly result: 'stopped'
  readonly requestId?: undefined
}

export const DONE: Done = { result: 'done', reason: undefined, facts: undefined, differences: [] }
