import type { Statement } from './findings.ts'
import type { ParsedFile } from './parse-file.ts'
import type { Reading } from './read-directory.ts'

/*
 * Locks live in files of their own name: of a file that nobody can read, its name is all there is to tell that it holds the
 * ids of pipes which must not be created a second time.
 */

const LOCK_FILE = /(?:^|[./])lock\.(?:ya?ml|json)$/i

/** Whether a file is one for Locks by its name: `*.lock.yaml`, or just `lock.yaml`. */
export function isLockFileName(file: string): boolean {
  return LOCK_FILE.test(file)
}

/** Said of a Lock in a file of another name; it counts all the same. */
export const LOCK_ELSEWHERE = {
  severity: 'warning',
  code: 'lock-file-name',
  message: 'A Lock stands in a file that is not named for it.',
  hint: 'Move it to a file named *.lock.yaml, such as pipes.lock.yaml: while that cannot be read, no pipe is created.',
} as const satisfies Statement

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
    documents.some(({ kind }) => kind === 'Lock'),
  )
  return new Set([...files.map(({ file }) => file), ...[...before].filter(isHidden)])
}

function isBrokenLock({ kind, manifest }: ParsedFile['documents'][number]): boolean {
  return kind === 'Lock' && manifest === undefined
}
