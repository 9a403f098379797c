import type { Catalog, Entry } from '../../contract/catalog.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Key } from '../../kinds/key.ts'
import type { LedgerRecord } from '../../plan/record.ts'
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
  /** When a manifest came to be as it is, or to be gone; of those that changed. */
  const changedAt = new Map<Key, number>()
  /** What manifests that are gone last said of onRemove while they were valid. */
  const said = new Map<Key, LedgerRecord['onRemove']>()

  return {
    setCatalog(before, next) {
      if (before === undefined) return
      for (const [key, entry] of before.entries) {
        const now = next.entries.get(key)
        if (now?.digest !== entry.digest) changedAt.set(key, steadyNow())
        if (now === undefined && entry.manifest !== undefined) said.set(key, onRemoveOf(entry, clock.now()))
      }
      for (const key of next.entries.keys()) {
        if (!before.entries.has(key)) changedAt.set(key, steadyNow())
        said.delete(key)
      }
    },
    asRead(record) {
      const { key, onRemove, removal } = record
      const last = said.has(key) ? said.get(key) : onRemove
      const since = Math.max(removal?.since ?? 0, changedAt.get(key) ?? 0)
      const isSooner = removal?.since !== undefined && removal.isSent !== true && removal.since < since
      if (last === onRemove && !isSooner) return record
      return { ...record, onRemove: last, removal: isSooner ? { ...removal, since } : removal }
    },
  }
}

function onRemoveOf(entry: Entry, now: number): LedgerRecord['onRemove'] {
  return entry.manifest?.policy?.onRemove === 'delete' && !isLeftAlone(entry, now) ? 'delete' : undefined
}
