import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Revision } from '../../contract/catalog.ts'

/** How many of the last parts of a path can be the link that git-sync swaps: `current/deploy/manifests`. */
const LAST_PARTS = 6

/**
 * When git-sync or Kubernetes swapped the link to this revision: ms since the epoch. Undefined without such a link.
 * @param root the manifests directory, as it was given
 */
export async function revisionSince(root: string, { from }: Revision): Promise<number | undefined> {
  if (from === 'git') return undefined
  let path = from === 'content' ? join(root, '..data') : root
  for (let part = 0; part < (from === 'content' ? 1 : LAST_PARTS); part += 1) {
    const stats = await lstat(path).catch(() => undefined)
    if (stats?.isSymbolicLink() === true) return stats.mtimeMs
    path = dirname(path)
  }
  return undefined
}
