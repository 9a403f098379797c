import type { FileTree } from '../../contract/plan.ts'
import { sha256 } from '../../lib/digest.ts'
import { DEFAULT_LIMITS } from '../yaml/limits.ts'
import { commitOf, contentRevision } from './commit.ts'
import { readBytes } from './read-bytes.ts'
import { fileUnreadable, isSameStill, resolveRoot, tooLarge } from './read-directory.ts'
import { notRegular, walkTree } from './walk.ts'

/**
 * Reads a directory without looking at what it says: for somebody else, who does.
 * @returns why it cannot be read, in words, when that is so
 */
export async function readTree(
  given: string,
  signal: AbortSignal,
): Promise<FileTree | { readonly problem: string }> {
  try {
    const root = await resolveRoot(given)
    const tree = await walkTree(root, DEFAULT_LIMITS, signal)
    const before = await commitOf(root)
    const buffer = Buffer.allocUnsafe(DEFAULT_LIMITS.fileBytes + 1)
    const findings = [...tree.findings]
    const unread = [...tree.unread]
    const files: { readonly file: string; readonly bytes: Buffer }[] = []
    let vanished = tree.vanished
    for (const { file, path } of tree.files) {
      signal.throwIfAborted()
      const reading = readBytes(path, buffer)
      if (reading.what === 'read') files.push({ file, bytes: Buffer.from(reading.bytes) })
      else if (reading.what === 'vanished') vanished = true
      else {
        const finding =
          reading.what === 'too-large'
            ? tooLarge(file, DEFAULT_LIMITS)
            : reading.what === 'not-regular'
              ? notRegular(file)
              : fileUnreadable(file, reading.error)
        findings.push(finding)
        unread.push(file)
      }
    }
    const read = files.map(({ file, bytes }) => ({ file, hash: sha256(bytes) }))
    if (vanished || !(await isSameStill(given, root, tree, before)))
      return { problem: 'The directory changed while it was read.' }
    return { revision: before ?? contentRevision(read), findings, unread, files }
  } catch (error) {
    signal.throwIfAborted()
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
