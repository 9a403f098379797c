import { lstat, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Revision } from '../../contract/catalog.ts'
import { findCheckout } from './commit.ts'

/** How many of the last parts of a path may be the link that a sync swaps: `current/deploy/manifests`. */
const LAST_PARTS = 6

/**
 * Since when a revision is there: ms since the epoch. When git-sync or Kubernetes swapped its link, or when `HEAD` of a checkout
 * last moved; undefined where nobody knows. Reads a link or one small file.
 * @param root the manifests directory, as it was given
 */
export async function revisionSince(root: string, { from }: Revision): Promise<number | undefined> {
  if (from === 'git-sync') return swappedAt(root)
  return from === 'git' ? movedAt(root) : linkedAt(join(root, '..data'))
}

async function swappedAt(root: string): Promise<number | undefined> {
  let path = root
  for (let part = 0; part < LAST_PARTS && dirname(path) !== path; part += 1) {
    const at = await linkedAt(path)
    if (at !== undefined) return at
    path = dirname(path)
  }
  return undefined
}

async function linkedAt(path: string): Promise<number | undefined> {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.isSymbolicLink() === true ? stats.mtimeMs : undefined
}

/** `old new Name <mail> 1780000000 +0200`, a tab, and what was done. Who fetches in vain, and resets to what is there, moves nothing. */
const MOVE = /^(\w+) (?!\1 )\w+ [^\t]*> (\d+) [+-]\d{4}(?:\t|$)/

async function movedAt(root: string): Promise<number | undefined> {
  const folder = await realpath(root).catch(() => undefined)
  const git = folder === undefined ? undefined : (await findCheckout(folder))?.git
  const moves =
    git === undefined ? undefined : await readFile(join(git, 'logs', 'HEAD'), 'utf8').catch(() => undefined)
  const last = moves?.split('\n').findLast((line) => MOVE.test(line))
  const seconds = last === undefined ? undefined : MOVE.exec(last)?.[2]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
