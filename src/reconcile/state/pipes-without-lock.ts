import { isLockable } from '../../kinds/lookup.ts'
import { isUuid, sameId } from '../../lib/same-id.ts'
import type { StateStore } from './store.ts'

/** Pipes that a Lock has to name to be found again without the ledger, and does not; 0 where nobody uses a Lock. */
export function pipesWithoutLock(store: Pick<StateStore, 'catalog' | 'records'>): number {
  const locks = store.catalog?.locks
  if (locks === undefined || locks.size === 0) return 0
  let count = 0
  for (const { key, remote } of store.records()) {
    if (!isLockable(key) || !isUuid(remote?.id)) continue
    if (!sameId(remote?.id, locks.get(key))) count += 1
  }
  return count
}
