import { LedgerConflict, LedgerError } from '../contract/ledger.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { ReconcileContext } from './context.ts'
import { isHeldNow } from './gather/deletion-facts.ts'

/**
 * Writes down what a reading says of what is to be deleted, or may be: before anything is asked of the platform, which may take longer than
 * this process lives. Where that cannot be written, a reconcile of the key does it. Never rejects.
 */
export async function heedReading({
  ledger,
  store,
  emit,
}: Pick<ReconcileContext, 'ledger' | 'store' | 'emit'>): Promise<void> {
  for (const record of store.records()) {
    const heeded = withHold(store, store.asRead(record))
    if (heeded === record) continue
    try {
      store.note(await ledger.swap(heeded, []))
    } catch (error) {
      if (error instanceof LedgerConflict || error instanceof LedgerError) continue
      const bug = error instanceof Error ? error : new Error('no error was thrown', { cause: error })
      emit({ type: 'Bug', message: `what was read of ${record.key} could not be written down`, error: bug })
    }
  }
}

/** What stands in the way is noted, though it goes again before the key has its turn. */
function withHold(store: ReconcileContext['store'], record: LedgerRecord): LedgerRecord {
  const { removal } = record
  if (removal === undefined || removal.heldBy !== undefined) return record
  return isHeldNow(store, record) ? { ...record, removal: { ...removal, heldBy: 'manifests' } } : record
}
