import type { Key } from '../../kinds/key.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { type Candidate, hashesOfCandidate, hashesOfRecord } from '../../plan/rename-detection.ts'

/** Finds kin without comparing each newcomer with each record. */
export interface SimilarIndex {
  /** A record takes the place of another one of its key; undefined: there was none, or there is none any more. */
  replace(before: LedgerRecord | undefined, after: LedgerRecord | undefined): void
  /** Keys that share a mark with a newcomer, but for its own; in their order. */
  of(candidate: Candidate): readonly Key[]
}

/** Mark → its key, or keys where there are several. */
type Index = Map<number, Key | Set<Key>>

/** @param records all that there are; the index is made when the first newcomer comes, which mostly none does */
export function createSimilarIndex(records: () => Iterable<LedgerRecord>): SimilarIndex {
  let keysOf: Index | undefined

  function made(): Index {
    const index: Index = new Map()
    for (const record of records()) for (const mark of hashesOfRecord(record)) add(index, mark, record.key)
    return index
  }

  return {
    replace(before, after) {
      if (keysOf === undefined) return
      const old = before === undefined ? [] : hashesOfRecord(before)
      const marks = after === undefined ? [] : hashesOfRecord(after)
      if (before !== undefined)
        for (const mark of old) if (!marks.includes(mark)) remove(keysOf, mark, before.key)
      if (after !== undefined) for (const mark of marks) if (!old.includes(mark)) add(keysOf, mark, after.key)
    },
    of(candidate) {
      keysOf ??= made()
      const found = new Set<Key>()
      for (const mark of hashesOfCandidate(candidate)) {
        const keys = keysOf.get(mark) ?? []
        for (const key of typeof keys === 'string' ? [keys] : keys) found.add(key)
      }
      found.delete(candidate.key)
      return [...found].toSorted()
    },
  }
}

function remove(index: Index, mark: number, key: Key): void {
  const keys = index.get(mark)
  if (typeof keys === 'object') keys.delete(key)
  if (keys === key || (typeof keys === 'object' && keys.size === 0)) index.delete(mark)
}

function add(index: Index, mark: number, key: Key): void {
  const keys = index.get(mark)
  if (typeof keys === 'object') keys.add(key)
  else index.set(mark, keys === undefined || keys === key ? key : new Set([keys, key]))
}
