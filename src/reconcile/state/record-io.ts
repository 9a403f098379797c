import type { NewEntry } from '../../contract/history.ts'
import type { Key } from '../../kinds/key.ts'
import { type Because, explained } from '../../plan/reason.ts'
import { type LedgerRecord, blankRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'

type Known = Pick<ReconcileContext, 'ledger' | 'store'>

export async function readRecord({ ledger, store }: Known, key: Key): Promise<LedgerRecord> {
  const record = await ledger.get(key, store.record(key))
  if (record !== undefined) store.note(record)
  else if (store.record(key) !== undefined) store.drop(key) // an operator forgot it
  return record ?? blankRecord(key)
}

/** Loads records that another process wrote. @returns their keys */
export async function syncStoreFromLedger({ ledger, store }: Known): Promise<readonly Key[]> {
  const writes = await ledger.othersWrites()
  if (writes === store.othersWritesSeen) return []
  // Reads the store before the ledger, because a write in between must show as a difference.
  const known = new Map<Key, number>()
  for (const { key, version } of store.records()) known.set(key, version)
  const there = await ledger.versions()
  const changed: Key[] = []
  for (const [key, version] of there) {
    if (known.get(key) === version) continue
    const record = await ledger.get(key)
    if (record === undefined) continue
    if (record.version > (store.record(key)?.version ?? 0)) store.note(record)
    changed.push(key)
  }
  for (const [key, version] of known) {
    if (there.has(key) || version === 0 || store.record(key)?.version !== version) continue
    store.drop(key)
    changed.push(key)
  }
  store.othersWritesSeen = writes
  return changed.toSorted()
}

export async function recordsOfOtherWriters({ ledger, store }: Known): Promise<readonly LedgerRecord[]> {
  const news: LedgerRecord[] = []
  for (const [key, version] of await ledger.versions()) {
    if (store.record(key)?.version === version) continue
    const record = await ledger.get(key)
    if (record !== undefined) news.push(record)
  }
  return news
}

export type Line = NewEntry & { readonly type: 'action' }

export function historyEntry(
  { clock, store }: Pick<ReconcileContext, 'clock' | 'store'>,
  key: Key,
  what: Pick<Line, 'action' | 'reason'> & Partial<Line>,
): Line {
  return { type: 'action', result: 'done', key, at: clock.now(), revision: store.revision, ...what }
}

export function reasonFields(because: Because): Pick<Line, 'reason' | 'because'> {
  return { reason: because.reason, because: explained(because) }
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
