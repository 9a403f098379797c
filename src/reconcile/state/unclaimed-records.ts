import type { Key } from '../../kinds/key.ts'

/** Keys of records whose manifest is gone, or seems to be. */
export interface UnclaimedRecords {
  keys(): Iterable<Key>
  /** A record was read or written. */
  note(key: Key): void
  drop(key: Key): void
  /** The manifests are others now. */
  reset(): void
}

/** @param records keys of all records; the keys are collected when a caller first needs them */
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
