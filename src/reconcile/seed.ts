import type { Key } from '../kinds/key.ts'
import type { Conditions } from '../plan/condition.ts'
import { messageOf } from '../plan/reason.ts'
import { blankRecord } from '../plan/record.ts'
import type { WritableBoard } from './board.ts'
import { describeStatus } from './kept-status.ts'
import type { Deps } from './deps.ts'

/** Shows a key as soon as a reading names it, with what the ledger remembers, before its turn has come. */
export function seedStatus({ world, clock }: Deps, board: WritableBoard, key: Key): void {
  const entry = world.entry(key)
  const record = world.record(key) ?? blankRecord(key)
  const unseen = {
    status: 'Unknown',
    reason: 'Unobserved',
    message: messageOf({ reason: 'Unobserved', facts: { why: 'waiting' } }),
    since: clock.now(),
  } as const
  const remembered: Conditions = record.conditions ?? { Valid: unseen, Synced: unseen, Ready: unseen }
  const invalid = entry?.state === 'invalid'
  const finding = entry?.findings[0]
  const conditions: Conditions = invalid
    ? {
        ...remembered,
        Valid: {
          status: 'False',
          reason: 'InvalidManifest',
          message: finding === undefined ? 'The manifest has errors.' : `${finding.message} ${finding.hint}`,
          since: clock.now(),
        },
      }
    : remembered
  const before = board.get(key)
  board.set(
    describeStatus({
      key,
      entry,
      record,
      look: world.look(key),
      conditions,
      action: { type: 'observe', reason: 'Unobserved', facts: { why: 'waiting' } },
      differences: before?.differences ?? [],
      message: invalid ? conditions.Valid.message : remembered.Synced.message,
      revision: entry?.revision ?? world.catalog?.revision.id ?? '',
      lastReconciledAt: before?.lastReconciledAt,
      nextReconcileAt: clock.now(),
    }),
  )
}
