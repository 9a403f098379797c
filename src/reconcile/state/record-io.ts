import type { NewEntry } from '../../contract/history.ts'
import { LedgerError } from '../../contract/ledger.ts'
import type { Key } from '../../kinds/key.ts'
import { type Explanation, explained } from '../../plan/reason.ts'
import { type LedgerRecord, blankRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'

type Known = Pick<ReconcileContext, 'ledger' | 'store'>

export async function readRecord({ ledger, store }: Known, key: Key): Promise<LedgerRecord> {
  const known = store.record(key)
  const stored = await ledger.get(key)
  // A ledger that cannot be written lacks the last back-off and the last request for a deletion.
  const isSame = stored !== known && stored?.version === known?.version
  const record = stored && isSame ? { ...stored, backoff: known?.backoff, removal: known?.removal } : stored
  if (record !== undefined) store.note(record)
  else if (store.record(key) !== undefined) store.drop(key) // an operator forgot it
  return record ?? { ...blankRecord(key), ...(known?.version === 0 && { backoff: known.backoff }) }
}

/** Loads records that another process wrote. The reconcile of an unreadable record reports it. @returns their keys */
export async function syncStoreFromLedger({ ledger, store }: Known): Promise<readonly Key[]> {
  const changed: Key[] = []
  for (const [key, write] of ledger.toRead) {
    const known = store.record(key)
    let record: LedgerRecord | undefined
    try {
      record = await ledger.get(key)
    } catch (error) {
      if (error instanceof LedgerError && error.code === 'corrupt') continue
      throw error
    }
    if (store.record(key) === known && (record?.version ?? 0) !== (known?.version ?? 0)) {
      if (record === undefined) store.drop(key)
      else store.note(record)
      changed.push(key)
    }
    if (ledger.toRead.get(key) === write) ledger.toRead.delete(key)
  }
  return changed.toSorted()
}

export type ActionEntry = NewEntry & { readonly type: 'action' }

export function historyEntry(
  { clock, store }: Pick<ReconcileContext, 'clock' | 'store'>,
  key: Key,
  said: Pick<ActionEntry, 'action'> &
    Omit<Partial<ActionEntry>, 'because'> & { readonly because: Explanation },
): ActionEntry {
  const { action, because, ...what } = said
  return {
    type: 'action',
    result: 'done',
    key,
    at: clock.now(),
    revision: store.revision,
    action,
    reason: because.reason,
    because: explained(because),
    ...what,
  }
}

export async function saveRecord(
  { ledger, store }: Known,
  record: LedgerRecord,
  history: readonly NewEntry[] = [],
): Promise<LedgerRecord> {
  const written = await ledger.swap(record, history)
  store.note(written)
  return written
}
