import type { Key } from '../../kinds/key.ts'
import type { Reading } from '../files/read-directory.ts'
import { foldersOf } from '../files/walk.ts'
import type { Catalog, Entry, Recorded } from '../../contract/catalog.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import type { LockedIds } from '../rules/lock-rules.ts'
import { isLockFileName } from '../validate/outline.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'

/** A catalog, and what has to be remembered until the next reading. */
export interface CatalogState {
  readonly catalog: Catalog
  /** Keys that are missing, and for how many readings in a row; from three on they are deleted. */
  readonly missingFor: ReadonlyMap<Key, number>
  /** Missing keys that a forced reading accepted: they raise no further alarm. */
  readonly accepted: ReadonlySet<Key>
  /** Keys that are missing, or missing in the Locks, and do not count as deleted yet; also those that never had an entry. */
  readonly pending: ReadonlySet<Key>
  /** Keys that a Lock named until lately, and for how many readings in a row none does. */
  readonly unlocked: ReadonlyMap<Key, number>
  /** Files in which a Lock stood when they were last read. */
  readonly lockFiles: ReadonlySet<string>
  /** Files in which documents stood that are not used, since another one has their key. */
  readonly newcomers: ReadonlyMap<Key, ReadonlySet<string>>
  /** Which key has the query endpoint of which service. */
  readonly endpoints: ReadonlyMap<string, Key>
  /** Documents of each kind, valid or not. */
  readonly counts: Readonly<Record<string, number>>
}

/** Readings in a row that have to agree before a key, or the entry of a Lock, counts as deleted. */
export const AGREEING = 3

/** What a reading says, and does not say, about keys that it did not find. */
export interface DeletionGrace {
  /** Not found, and nothing hides them. */
  readonly missing: ReadonlySet<Key>
  /** Not found, but their file could not be read or parsed. */
  readonly held: ReadonlySet<Key>
  /** How many readings in a row each missing key has been missing, this one included. */
  readonly counts: ReadonlyMap<Key, number>
  readonly pending: ReadonlySet<Key>
  readonly deleted: ReadonlySet<Key>
  /** Missing keys that a forced reading accepted. */
  readonly accepted: ReadonlySet<Key>
}

/** Whether a file may hold more than a reading saw; for an unknown file, whether any does. */
export type IsHidden = (file: string | undefined) => boolean

interface Input {
  readonly previous: CatalogState
  readonly recorded: ReadonlyMap<Key, Recorded>
  readonly accept: 'force' | 'normal'
  readonly found: ReadonlySet<Key>
  readonly isHidden: IsHidden
}

export function deletionGraceOf({ previous, recorded, accept, found, isHidden }: Input): DeletionGrace {
  const { entries } = previous.catalog
  const missing = new Set<Key>()
  const held = new Set<Key>()
  for (const key of [...entries.keys(), ...previous.missingFor.keys(), ...recorded.keys()]) {
    if (found.has(key)) continue
    const wasDeleted = (previous.missingFor.get(key) ?? 0) >= AGREEING
    const file = fileOf(entries.get(key)) ?? recorded.get(key)?.file
    if (!wasDeleted && isHidden(file)) held.add(key)
    else missing.add(key)
  }
  const counts = new Map<Key, number>()
  for (const key of missing) {
    const before = previous.missingFor.get(key) ?? 0
    // What is gone for good and not recorded either is of no interest to anyone any more.
    if (before >= AGREEING && !recorded.has(key)) continue
    counts.set(key, Math.min(before + 1, AGREEING))
  }
  const keys = [...counts.keys()]
  return {
    missing,
    held,
    counts,
    pending: new Set(keys.filter((key) => (counts.get(key) ?? 0) < AGREEING)),
    deleted: new Set(keys.filter((key) => (counts.get(key) ?? 0) >= AGREEING)),
    accepted: new Set(keys.filter((key) => accept === 'force' || previous.accepted.has(key))),
  }
}

/** Where a key was seen; undefined where nobody saw it, and it is only held. */
function fileOf(entry: Entry | undefined): string | undefined {
  return entry?.position.file === '' ? undefined : entry?.position.file
}

export function hiddenIn(reading: Reading): IsHidden {
  const hidden = new Set(reading.unread)
  for (const file of reading.files.values()) if (!file.whole) hidden.add(file.file)
  return (file) => {
    if (hidden.size === 0) return false
    if (file === undefined || hidden.has('') || hidden.has(file)) return true
    return foldersOf(file).some((folder) => folder.endsWith('/') && hidden.has(folder))
  }
}

/**
 * Files, and folders with a `/` at the end, that may hold a Lock, or an entry of one, which this reading could not read.
 * An empty text: anywhere.
 * @param lockFiles files in which Locks stood before: see {@link lockFilesAfter}
 */
export function hiddenLockFiles(reading: Reading, lockFiles: ReadonlySet<string>): readonly string[] {
  const isLockFile = (file: string) => isLockFileName(file) || lockFiles.has(file)
  const broken = [...reading.files.values()].filter(
    (file) => (!file.whole && isLockFile(file.file)) || file.documents.some(isBrokenLock),
  )
  const unread = reading.unread.filter((path) => path === '' || path.endsWith('/') || isLockFile(path))
  return [...new Set([...broken.map(({ file }) => file), ...unread])].toSorted()
}

/** The files in which a Lock stands, and those where one stood when they were last read. */
export function lockFilesAfter(
  before: ReadonlySet<string>,
  reading: Reading,
  isHidden: (file: string) => boolean,
): ReadonlySet<string> {
  const files = [...reading.files.values()].filter(({ documents }) =>
    documents.some(({ kind }) => kind === LOCK.name),
  )
  return new Set([...files.map(({ file }) => file), ...[...before].filter(isHidden)])
}

function isBrokenLock({ kind, manifest }: ParsedDocument): boolean {
  return kind === LOCK.name && manifest === undefined
}

/**
 * What Locks say. What they said before counts on while a file that may hold a Lock cannot be read, and until as many readings
 * agree as for a key: a file that is replaced, or cut in the middle of being written, is read without error.
 * @returns also the keys that no Lock names any more although their entry counts on, and for how many readings
 */
export function lockGrace({
  previous,
  locked,
  isHidden,
  accept,
}: Pick<Input, 'previous' | 'accept'> & {
  readonly locked: LockedIds
  readonly isHidden: boolean
}): Pick<CatalogState, 'unlocked'> & { readonly locks: ReadonlyMap<Key, string> } {
  const { agreed: locks, contested } = locked
  const ids = new Set(locks.values())
  const kept = new Map<Key, string>()
  const unlocked = new Map<Key, number>()
  for (const [key, id] of previous.catalog.locks) {
    if (locks.has(key) || contested.has(key)) continue
    const readings = (previous.unlocked.get(key) ?? 0) + 1
    if (isHidden) kept.set(key, id)
    else if (accept === 'normal' && readings < AGREEING && !ids.has(id)) {
      kept.set(key, id)
      unlocked.set(key, readings)
    }
  }
  return { locks: new Map([...kept, ...locks]), unlocked }
}
