import type { Key } from '../kinds/key.ts'
import type { Action } from '../plan/action.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { WritableBoard } from './board.ts'
import type { Deps, Turn } from './deps.ts'
import type { LedgerError } from './ports.ts'
import type { Reconciled } from './reconciled.ts'
import type { CreateEnd } from './rescue.ts'
import { unsavedOutcome, unsavedWords } from './unsaved-words.ts'

const LEDGER_LOOK_MS = 5_000

/** Without the ledger nothing may be decided: it is looked at again soon. */
export function withoutLedger(
  deps: Deps,
  board: WritableBoard,
  about: {
    readonly key: Key
    readonly turn: Turn
    readonly error: LedgerError
    /** What became of a create of the key, if the ledger does not say so yet. */
    readonly unsaved: CreateEnd | undefined
    readonly startedAt: number
  },
): Reconciled {
  const { key, turn, error, unsaved, startedAt } = about
  const reason = unsaved === undefined ? 'LedgerFailed' : 'OutcomeUnsaved'
  const message = unsaved === undefined ? error.message : unsavedWords(key, unsaved)
  const action: Action = { type: 'hold', reason, until: undefined, message }
  const outcome: Outcome = { ...unsavedOutcome(message, undefined), reason }
  const before = board.get(key)
  if (before !== undefined) board.set({ ...before, status: 'Failed', reason, message })
  deps.emit({
    type: 'ReconcileFinished',
    key,
    reconcileId: turn.reconcileId,
    revision: deps.world.catalog?.revision.id ?? '',
    action: action.type,
    reason,
    message,
    result: 'failed',
    requestId: undefined,
    durationMs: deps.clock.monotonic() - startedAt,
    changed: before?.reason !== reason,
    file: before?.file,
    line: before?.line,
    changeToApplyMs: undefined,
  })
  return { action, outcome, next: { why: 'retry', afterMs: LEDGER_LOOK_MS }, also: [] }
}
