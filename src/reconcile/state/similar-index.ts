import type { Key } from '../../kinds/key.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { type Candidate, hashesOfCandidate, hashesOfRecord } from '../../plan/rename-detection.ts'

interface SimilarIndex {
  replace(before: LedgerRecord | undefined, after: LedgerRecord | undefined): void
  /** In order. */
  of(candidate: Candidate): readonly Key[]
}

type Index = Map<number, Key | Set<Key>>

/**
 * @param records all of them. The index is built for the first candidate.
 * @param identityOf the identity's paths, by key
 */
export function createSimilarIndex(
  records: () => Iterable<LedgerRecord>,
  identityOf: (key: Key) => readonly string[],
): SimilarIndex {
  let keysOf: Index | undefined

  function hashesOf(record: LedgerRecord): readonly number[] {
    return hashesOfRecord(record, identityOf(record.key))
  }

  function made(): Index {
    const index: Index = new Map()
    for (const record of records()) for (const hash of hashesOf(record)) add(index, hash, record.key)
    return index
  }

  return {
    replace(before, after) {
      if (keysOf === undefined) return
      const old = before === undefined ? [] : hashesOf(before)
      const hashes = after === undefined ? [] : hashesOf(after)
      if (before !== undefined)
        for (const hash of old) if (!hashes.includes(hash)) remove(keysOf, hash, before.key)
      if (after !== undefined)
        for (const hash of hashes) if (!old.includes(hash)) add(keysOf, hash, after.key)
    },
    of(candidate) {
      keysOf ??= made()
      const found = new Set<Key>()
      for (const hash of hashesOfCandidate(candidate)) {
        const keys = keysOf.get(hash) ?? []
        for (const key of typeof keys === 'string' ? [keys] : keys) found.add(key)
      }
      found.delete(candidate.key)
      return [...found].toSorted()
    },
  }
}

function remove(index: Index, hash: number, key: Key): void {
  const keys = index.get(hash)
  if (typeof keys === 'object') keys.delete(key)
  if (keys === key || (typeof keys === 'object' && keys.size === 0)) index.delete(hash)
}

function add(index: Index, hash: number, key: Key): void {
  const keys = index.get(hash)
  if (typeof keys === 'object') keys.add(key)
  else index.set(hash, keys === undefined || keys === key ? key : new Set([keys, key]))
}
