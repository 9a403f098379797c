import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Newcomer } from '../plan/rename.ts'
import { marksOfNewcomer, marksOfRecord } from '../plan/rename.ts'

/** Finds kin without comparing each newcomer with each record. */
export interface KinIndex {
  /** A record took the place of another one of its key; undefined: there was none, or there is none any more. */
  replace(before: LedgerRecord | undefined, after: LedgerRecord | undefined): void
  /** Keys that share a mark with a newcomer, but for its own; in their order. */
  of(newcomer: Newcomer): readonly Key[]
}

export function createKinIndex(): KinIndex {
  const keysOf = new Map<string, Set<Key>>()

  function remove(mark: string, key: Key): void {
    const keys = keysOf.get(mark)
    keys?.delete(key)
    if (keys?.size === 0) keysOf.delete(mark)
  }

  function add(mark: string, key: Key): void {
    const keys = keysOf.get(mark)
    if (keys === undefined) keysOf.set(mark, new Set([key]))
    else keys.add(key)
  }

  return {
    replace(before, after) {
      const old = before === undefined ? [] : marksOfRecord(before)
      const marks = after === undefined ? [] : marksOfRecord(after)
      if (before !== undefined) for (const mark of old) if (!marks.includes(mark)) remove(mark, before.key)
      if (after !== undefined) for (const mark of marks) if (!old.includes(mark)) add(mark, after.key)
    },
    of(newcomer) {
      const found = new Set<Key>()
      for (const mark of marksOfNewcomer(newcomer)) {
        for (const key of keysOf.get(mark) ?? []) if (key !== newcomer.key) found.add(key)
      }
      return [...found].toSorted()
    },
  }
}
