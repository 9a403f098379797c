import type { Catalog, Entry } from '../../contract/catalog.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Key } from '../../kinds/key.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { Removal } from '../../plan/recorded-change.ts'
import { isLeftAlone } from './entry-policy.ts'

/**
 * What the readings of this process said, as far as it bears on a deletion. A record knows only what its manifest said when its key had its
 * turn; a manifest that comes back, or is edited, and goes while the key waits for the platform, would not be noticed.
 */
export interface LastSaid {
  setCatalog(before: Catalog | undefined, next: Catalog): void
  /** A record with what was read since it was written. */
  asRead(record: LedgerRecord): LedgerRecord
}

/** @param steadyNow as in the store that owns this */
export function createLastSaid(clock: Clock, steadyNow: () => number): LastSaid {
  let catalog: Catalog | undefined
  /** When a manifest came to be as it is, or to be gone; of those that changed. */
  const changedAt = new Map<Key, number>()
  /** What manifests that are gone last said of onRemove while they were valid. */
  const said = new Map<Key, LedgerRecord['onRemove']>()

  /** That it may be deleted when its manifest goes is written with what it is like then: nothing is added here. */
  function onRemoveOf({ key, onRemove }: LedgerRecord, entry: Entry | undefined): LedgerRecord['onRemove'] {
    if (entry === undefined) return said.has(key) ? said.get(key) : onRemove
    return entry.state === 'valid' && saysDelete(entry, clock.now()) === undefined ? undefined : onRemove
  }

  function removalOf({ key, removal }: LedgerRecord, entry: Entry | undefined): Removal | undefined {
    if (removal === undefined || removal.isSent === true) return removal
    const isBack = entry !== undefined && removal.digest === undefined && entry.state !== 'missing'
    const since = changedAt.get(key) ?? removal.since
    return isBack ? undefined : since > removal.since ? { ...removal, since } : removal
  }

  return {
    setCatalog(before, next) {
      catalog = next
      if (before === undefined) return
      for (const [key, entry] of before.entries) {
        const now = next.entries.get(key)
        if (now?.digest !== entry.digest) changedAt.set(key, steadyNow())
        if (now === undefined && entry.manifest !== undefined) said.set(key, saysDelete(entry, clock.now()))
      }
      for (const key of next.entries.keys()) {
        if (!before.entries.has(key)) changedAt.set(key, steadyNow())
        said.delete(key)
      }
    },
    asRead(record) {
      const entry = catalog?.entries.get(record.key)
      const onRemove = onRemoveOf(record, entry)
      const removal = removalOf(record, entry)
      return onRemove === record.onRemove && removal === record.removal
        ? record
        : { ...record, onRemove, removal }
    },
  }
}

function saysDelete(entry: Entry, now: number): LedgerRecord['onRemove'] {
  return entry.manifest?.policy?.onRemove === 'delete' && !isLeftAlone(entry, now) ? 'delete' : undefined
}
