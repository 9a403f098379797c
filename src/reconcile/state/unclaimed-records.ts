import type { Key } from '../../kinds/key.ts'

/** Keys whose manifest is gone, or seems to be. */
interface UnclaimedRecords {
  keys(): Iterable<Key>
  note(key: Key): void
  drop(key: Key): void
  /** For new manifests. */
  reset(): void
}

/** @param records keys of all records, collected on first use */
export function createUnclaimedRecords(
  records: () => Iterable<Key>,
  isUnclaimed: (key: Key) => boolean,
): UnclaimedRecords {
  let known: Set<Key> | undefined
  return {
    keys: () => (known ??= new Set([...records()].filter(isUnclaimed))),
    note(key) {
      if (known !== undefined && isUnclaimed(key)) known.add(key)
    },
    drop: (key) => void known?.delete(key),
    reset() {
      known = undefined
    },
  }
}
