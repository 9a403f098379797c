import type { Key } from '../../kinds/key.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { type Candidate, hashesOfCandidate, hashesOfRecord } from '../../plan/rename-detection.ts'

/** Finds records of similar pipes without comparing a candidate with each record. */
export interface SimilarIndex {
  /** A record takes the place of another one of its key; undefined: there was none, or there is none any more. */
  replace(before: LedgerRecord | undefined, after: LedgerRecord | undefined): void
  /** Keys that share a hash with a candidate, but for its own; in their order. */
  of(candidate: Candidate): readonly Key[]
}

/** Hash → its key, or keys where there are several. */
type Index = Map<number, Key | Set<Key>>

/**
 * @param records all that there are; the index is made for the first candidate; mostly there is none
 * @param identityOf the paths of the identity of a key's kind
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
