import type { Key } from '../kinds/key.ts'
import type { Action } from '../plan/action.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { WritableBoard } from './board.ts'
import type { Deps, Turn } from './deps.ts'
import { changedStatus } from './kept-status.ts'
import type { LedgerError } from './ports.ts'
import type { Reconciled } from './reconciled.ts'

const LEDGER_LOOK_MS = 5_000

/** Without the ledger nothing may be decided: it is looked at again soon. */
export function withoutLedger(
  deps: Deps,
  board: WritableBoard,
  key: Key,
  turn: Turn,
  error: LedgerError,
  startedAt: number,
): Reconciled {
  const action: Action = { type: 'hold', reason: 'LedgerFailed', until: undefined, message: error.message }
  const outcome: Outcome = {
    result: 'failed',
    reason: 'LedgerFailed',
    message: error.message,
    requestId: undefined,
    retryAfterMs: undefined,
  }
  const before = board.get(key)
  if (before !== undefined)
    board.set(changedStatus(before, { status: 'Failed', reason: 'LedgerFailed', message: error.message }))
  deps.emit({
    type: 'ReconcileFinished',
    key,
    reconcileId: turn.reconcileId,
    revision: deps.world.catalog?.revision.id ?? '',
    action: action.type,
    reason: 'LedgerFailed',
    message: error.message,
    result: 'failed',
    requestId: undefined,
    durationMs: deps.clock.monotonic() - startedAt,
    changed: before?.reason !== 'LedgerFailed',
    file: before?.file,
    line: before?.line,
    changeToApplyMs: undefined,
  })
  return { action, outcome, next: { why: 'retry', afterMs: LEDGER_LOOK_MS }, also: [] }
}
