import type { Statement } from '../diagnostics/diagnostic.ts'

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
