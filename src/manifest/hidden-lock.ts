import type { Reading } from './read-directory.ts'

/**
 * Files, and folders with a `/` at the end, in which a `Lock` may stand that no reading of this process has seen.
 * An empty text: anywhere.
 * @param seen what earlier readings saw: see {@link seenAfter}
 */
export function hiddenLockFiles(reading: Reading, seen: ReadonlySet<string>): readonly string[] {
  const broken = [...reading.files.values()].filter((file) => file.mayHideLock).map(({ file }) => file)
  const odd = new Set(
    reading.findings.filter(({ code }) => code === 'file-not-regular').map(({ file }) => file),
  )
  const unread = reading.unread.filter((path) => !odd.has(path))
  return [...new Set([...broken, ...unread])].filter((path) => !wasSeen(path, seen)).toSorted()
}

function wasSeen(path: string, seen: ReadonlySet<string>): boolean {
  if (seen.has(path)) return true
  return path.endsWith('/') && [...seen].some((file) => file.startsWith(path))
}

/**
 * The files that some reading of this process saw whole and that are still there, as far as one can tell; with an
 * empty text once a reading saw everything. Their locks are remembered while they cannot be read.
 */
export function seenAfter(
  before: ReadonlySet<string>,
  reading: Reading,
  isHidden: (file: string | undefined) => boolean,
): ReadonlySet<string> {
  const seen = new Set<string>()
  for (const { file, whole, mayHideLock } of reading.files.values()) if (whole && !mayHideLock) seen.add(file)
  for (const file of before) if (file === '' || isHidden(file)) seen.add(file)
  if (reading.unread.length === 0 && seen.size >= reading.files.size) seen.add('')
  return seen
}
