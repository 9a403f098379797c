import { lstatSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { DEFAULT_LIMITS } from '../manifest/limits.ts'
import { codeOf } from '../manifest/read-bytes.ts'
import { commitOf } from '../manifest/revision.ts'
import { walkTree } from '../manifest/walk.ts'

/** Files between two moments in which others run. */
const SLICE = 500

/**
 * Lists what a reading would read, and asks the file system about each file, opening none. Costs 5 ms of CPU for a
 * thousand files.
 * @returns a text that differs when a reading may. Never rejects for what is wrong with the directory: that is part of the text
 * @throws the signal's reason
 */
export async function statWalk(root: string, signal: AbortSignal): Promise<string> {
  try {
    const resolved = await realpath(root)
    const tree = await walkTree(resolved, DEFAULT_LIMITS, signal)
    const digest = createHash('sha256').update(
      JSON.stringify([resolved, (await commitOf(resolved))?.id, tree.unread, [...tree.links]]),
    )
    for (const [n, { file, path }] of tree.files.entries()) {
      if (n % SLICE === SLICE - 1) await setImmediate()
      signal.throwIfAborted()
      const stats = lstatSync(path, { throwIfNoEntry: false })
      digest.update(`${file}\0${path}\0${stats?.ino} ${stats?.size} ${stats?.mtimeMs} ${stats?.ctimeMs}\n`)
    }
    return digest.digest('hex')
  } catch (error) {
    signal.throwIfAborted()
    return `unreadable: ${codeOf(error)}`
  }
}
