import type { Key } from '../../kinds/key.ts'
import type { CatalogState } from './catalog-state.ts'
import type { Reading } from '../files/read-directory.ts'
import { foldersOf } from '../files/walk.ts'
import { agreedLocks } from '../rules/lock-rules.ts'
import type { ParsedDocument } from '../validate/parse-document.ts'

/** Readings in a row that have to agree before a key, or the entry of a Lock, is gone. */
const AGREEING = 3

/** What a reading says, and does not say, about keys that it did not find. */
export interface Absences {
  /** Not found, and nothing hides them. */
  readonly missing: ReadonlySet<Key>
  /** Not found, but their file could not be read or parsed. */
  readonly held: ReadonlySet<Key>
  /** How many readings in a row each missing key has been missing, this one included. */
  readonly counts: ReadonlyMap<Key, number>
  readonly pending: ReadonlySet<Key>
  readonly gone: ReadonlySet<Key>
  /** Missing keys that a person believed to be so. */
  readonly accepted: ReadonlySet<Key>
  /** Whether a file may hold more than this reading saw; for an unknown file, whether any does. */
  readonly isHidden: (file: string | undefined) => boolean
}

interface Input {
  readonly previous: CatalogState
  readonly reading: Reading
  readonly known: ReadonlyMap<Key, string | undefined>
  readonly accept: 'believe' | 'doubt'
  readonly found: ReadonlySet<Key>
}

export function absencesOf({ previous, reading, known, accept, found }: Input): Absences {
  const isHidden = hiddenIn(reading)
  const { entries } = previous.catalog
  const missing = new Set<Key>()
  const held = new Set<Key>()
  for (const key of [...entries.keys(), ...previous.absences.keys(), ...known.keys()]) {
    if (found.has(key)) continue
    const wasGone = (previous.absences.get(key) ?? 0) >= AGREEING
    const file = entries.get(key)?.position.file ?? known.get(key)
    if (!wasGone && isHidden(file)) held.add(key)
    else missing.add(key)
  }
  const counts = new Map<Key, number>()
  for (const key of missing) {
    const before = previous.absences.get(key) ?? 0
    // What is gone for good and not recorded either is of no interest to anyone any more.
    if (before >= AGREEING && !known.has(key)) continue
    counts.set(key, Math.min(before + 1, AGREEING))
  }
  const keys = [...counts.keys()]
  return {
    missing,
    held,
    counts,
    pending: new Set(keys.filter((key) => (counts.get(key) ?? 0) < AGREEING)),
    gone: new Set(keys.filter((key) => (counts.get(key) ?? 0) >= AGREEING)),
    accepted: new Set(keys.filter((key) => accept === 'believe' || previous.accepted.has(key))),
    isHidden,
  }
}

function hiddenIn(reading: Reading): (file: string | undefined) => boolean {
  const hidden = new Set(reading.unread)
  for (const file of reading.files.values()) if (!file.whole) hidden.add(file.file)
  return (file) => {
    if (hidden.size === 0) return false
    if (file === undefined || hidden.has('') || hidden.has(file)) return true
    return foldersOf(file).some((folder) => folder.endsWith('/') && hidden.has(folder))
  }
}

/**
 * What Locks say. What they said before counts on while a file that may hold a Lock cannot be read, and until as many readings
 * agree as for a key: a file that is replaced, or cut in the middle of being written, is read without error.
 * @returns also the keys that no Lock names any more although their entry counts on, and for how many readings
 */
export function lockGrace({
  previous,
  documents,
  isHidden,
  accept,
}: Pick<Input, 'previous' | 'accept'> & {
  readonly documents: readonly ParsedDocument[]
  readonly isHidden: boolean
}): Pick<CatalogState, 'unlocked'> & { readonly locks: ReadonlyMap<Key, string> } {
  const { locks, contested } = agreedLocks(documents)
  const ids = new Set(locks.values())
  const kept = new Map<Key, string>()
  const unlocked = new Map<Key, number>()
  for (const [key, id] of previous.catalog.locks) {
    if (locks.has(key) || contested.has(key)) continue
    const readings = (previous.unlocked.get(key) ?? 0) + 1
    if (isHidden) kept.set(key, id)
    else if (accept === 'doubt' && readings < AGREEING && !ids.has(id)) {
      kept.set(key, id)
      unlocked.set(key, readings)
    }
  }
  return { locks: new Map([...kept, ...locks]), unlocked }
}
