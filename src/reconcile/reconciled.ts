import type { Key } from '../kinds/key.ts'
import type { Action } from '../plan/action.ts'
import type { NextLook } from '../plan/next-look.ts'
import type { Outcome } from '../plan/outcome.ts'

/** What became of one turn. */
export interface Reconciled {
  readonly action: Action
  readonly outcome: Outcome
  /** When the key's turn comes again; `undefined` when there is nothing left of it. */
  readonly next: NextLook | undefined
  /** Other keys for which this turn changed something. */
  readonly also: readonly Key[]
}
