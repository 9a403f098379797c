import { isLockable } from '../../kinds/lookup.ts'
import { isUuid, sameId } from '../../lib/same-id.ts'
import type { StateStore } from './store.ts'

/** They cannot be found without the ledger. 0 without any Lock. */
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
