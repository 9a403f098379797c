import type { Before } from '../rules/duplicate-keys.ts'
import type { Key } from '../../kinds/key.ts'
import type { Reading } from '../files/read-directory.ts'
import { foldersOf } from '../files/walk.ts'
import type { Recorded } from '../../contract/catalog.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import type { checkLocks } from '../rules/lock-rules.ts'
import { isLockFileName } from '../validate/outline.ts'

export interface CatalogState extends Omit<Before, 'recorded' | 'isGone'> {
  /** Keys that were not found, and in how many readings in a row. At {@link AGREEING}, a key counts as deleted. */
  readonly missingFor: ReadonlyMap<Key, number>
  /** Missing keys whose loss an operator accepted, so they no longer count as lost. */
  readonly accepted: ReadonlySet<Key>
  /** Keys that the directory or the Locks no longer have, but that do not yet count as deleted. */
  readonly pending: ReadonlySet<Key>
  /** Keys that the Locks no longer have, and in how many readings in a row. */
  readonly unlocked: ReadonlyMap<Key, number>
  readonly counts: Readonly<Record<string, number>>
}

/** A key counts as deleted if this many readings in a row lack the key. */
export const AGREEING = 3

export type DeletionGrace = ReturnType<typeof deletionGraceOf>

/** Whether the file might hold documents that the reading did not see. `undefined` asks about any file. */
type IsHidden = (file: string | undefined) => boolean

interface Input {
  readonly previous: CatalogState
  readonly recorded: ReadonlyMap<Key, Recorded>
  readonly accept: 'force' | 'normal'
  readonly found: ReadonlySet<Key>
  readonly isHidden: IsHidden
}

export function deletionGraceOf({ previous, recorded, accept, found, isHidden }: Input) {
  const { entries } = previous.catalog
  const missing = new Set<Key>()
  const held = new Set<Key>()
  for (const key of [...entries.keys(), ...previous.missingFor.keys(), ...recorded.keys()]) {
    if (found.has(key)) continue
    const wasDeleted = (previous.missingFor.get(key) ?? 0) >= AGREEING
    const seenIn = entries.get(key)?.position.file ?? ''
    const file = seenIn === '' ? recorded.get(key)?.file : seenIn
    if (!wasDeleted && isHidden(file)) held.add(key)
    else missing.add(key)
  }
  const counts = new Map<Key, number>()
  for (const key of missing) {
    const before = previous.missingFor.get(key) ?? 0
    if (before >= AGREEING && !recorded.has(key)) continue
    counts.set(key, Math.min(before + 1, AGREEING))
  }
  const keys = [...counts.keys()]
  return {
    missing,
    /** Keys that do not count as deleted, because an unreadable file might hold them. */
    held,
    counts,
    pending: new Set(keys.filter((key) => (counts.get(key) ?? 0) < AGREEING)),
    deleted: new Set(keys.filter((key) => (counts.get(key) ?? 0) >= AGREEING)),
    accepted: new Set(keys.filter((key) => accept === 'force' || previous.accepted.has(key))),
  }
}

export function hiddenIn(unread: readonly string[]): IsHidden {
  const hidden = new Set(unread)
  return (file) => {
    if (hidden.size === 0) return false
    if (file === undefined || hidden.has('') || hidden.has(file)) return true
    return foldersOf(file).some((folder) => folder.endsWith('/') && hidden.has(folder))
  }
}

/** Unreadable files and folders that might hold a Lock. @param lockFiles from {@link lockFilesAfter} */
export function hiddenLockFiles(reading: Reading, lockFiles: ReadonlySet<string>): readonly string[] {
  const isLockFile = (file: string) => isLockFileName(file) || lockFiles.has(file)
  const broken = [...reading.files.values()].filter(({ documents }) =>
    documents.some(({ kind, manifest }) => kind === LOCK.name && manifest === undefined),
  )
  const unread = reading.unread.filter((path) => path === '' || path.endsWith('/') || isLockFile(path))
  return [...new Set([...broken.map(({ file }) => file), ...unread])].toSorted()
}

/** Files with a Lock. An unreadable file counts if it had a Lock when it was last read. */
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

/**
 * Keeps an id that disappeared from the Locks, because a half-written file looks like a removal. Drops the id
 * after {@link AGREEING} readings in which each Lock was readable.
 */
export function lockGrace({
  previous,
  locked,
  isHidden,
  accept,
}: Pick<Input, 'previous' | 'accept'> & {
  readonly locked: ReturnType<typeof checkLocks>
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
