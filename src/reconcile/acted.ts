import type { Key } from '../kinds/key.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { HistoryEntry } from './history.ts'

/** What an action did: the outcome, and the record as it is to be (not yet written, but for a create). */
export interface Acted {
  readonly outcome: Outcome
  readonly record: LedgerRecord
  readonly history: readonly HistoryEntry[]
}

/** What was decided is no longer what is to be done: nothing was sent, and it is decided anew. */
export class DecisionOutdated extends Error {
  constructor(key: Key) {
    super(`what was decided for ${key} is no longer what is to be done`)
    this.name = 'DecisionOutdated'
  }
}
