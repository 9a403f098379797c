import type { ReconcileContext } from '../../src/reconcile/context.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'

/** What a process reconciles with, except for what a test is about. */
export const USUAL = {
  emit: () => undefined,
  random: () => 0.5,
  timing: { intervalMs: 300_000, resyncMs: 3_600_000 },
  healthyStates: undefined,
  maxCreates: 25,
} as const

/** @param olderThan as `StateStore.olderThan` */
export async function startEngine(
  parts: Omit<ReconcileContext, 'store'>,
  olderThan?: () => string | undefined,
) {
  const { profile, ledger, clock } = parts
  const store = createStateStore({ profile, hashKey: ledger.hashKey, clock, olderThan })
  for (const record of await ledger.list()) store.note(record)
  const context: ReconcileContext = { ...parts, store }
  const board = createBoard()
  return { context, store, board, reconciler: createReconciler(context, board) }
}

export function createIds(): () => string {
  let ids = 0
  return () => `a0000000-0000-4000-8000-${String((ids += 1)).padStart(12, '0')}`
}
