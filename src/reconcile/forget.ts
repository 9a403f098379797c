import type { Key } from '../kinds/key.ts'
import { NOTHING_TO_DO } from '../plan/outcome.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { WritableBoard } from './board.ts'
import type { Deps } from './deps.ts'
import type { HistoryEntry } from './history.ts'
import type { Reconciled } from './reconciled.ts'

/** Nothing is left of a key on the platform, and its manifest is gone. */
export async function forget(
  deps: Deps,
  board: WritableBoard,
  key: Key,
  recorded: LedgerRecord,
): Promise<Reconciled> {
  if (recorded.version > 0) await deps.ledger.remove(recorded, lastWords(deps, recorded))
  if (recorded.version > 0 || board.get(key) !== undefined) deps.emit({ type: 'Forgotten', key })
  deps.world.drop(key)
  board.remove(key)
  return {
    action: { type: 'observe', reason: 'Orphaned', facts: { key, isNothing: true } },
    outcome: NOTHING_TO_DO,
    next: undefined,
    also: [],
  }
}

/** Attempts that failed are worth a line; a key that was only ever looked at is not. */
function lastWords({ clock, world }: Deps, { key, intent, pipe }: LedgerRecord): readonly HistoryEntry[] {
  if (intent === undefined || pipe !== undefined) return []
  const message = `Its manifest is gone, and none of its attempts (${intent.attempt}) created anything; it is forgotten.`
  const revision = world.catalog?.revision.id ?? ''
  const common = { key, at: clock.now(), revision, requestId: intent.seen?.requestId, message }
  return [
    { type: 'action', action: 'forget', reason: 'Orphaned', result: 'done', intentId: intent.id, ...common },
  ]
}
