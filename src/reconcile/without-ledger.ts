import type { Key } from '../kinds/key.ts'
import type { Action } from '../plan/action.ts'
import type { Conditions } from '../plan/condition.ts'
import { messageOf, type Because } from '../plan/reason.ts'
import type { WritableBoard } from './board.ts'
import type { Deps, Turn } from './deps.ts'
import type { LedgerError } from './ports.ts'
import type { Reconciled } from './reconciled.ts'
import type { CreateEnd } from './rescue.ts'
import { unsavedBecause, unsavedOutcome } from './unsaved-words.ts'

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
  const because: Because<'LedgerFailed' | 'OutcomeUnsaved'> =
    unsaved === undefined
      ? { reason: 'LedgerFailed', facts: { said: error.message } }
      : unsavedBecause(key, unsaved)
  const { reason, facts } = because
  const message = messageOf(because)
  const action: Action = { type: 'hold', until: undefined, ...because }
  const outcome = unsavedOutcome(because, undefined)
  const before = board.get(key)
  if (before !== undefined) {
    const { Synced } = before.conditions
    const since = Synced.reason === reason ? Synced.since : deps.clock.now()
    const conditions: Conditions = {
      ...before.conditions,
      Synced: { status: 'Unknown', reason, message, since, facts },
    }
    board.set({ ...before, status: 'Failed', reason, message, conditions })
  }
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
