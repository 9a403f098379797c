import { lstat, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { sha256 } from '../../lib/digest.ts'
import type { Revision } from '../../contract/catalog.ts'

/** SHA-1 or SHA-256. */
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** Trailing path parts that might name a worktree (`<commit>/deploy/manifests`) or be git-sync's link. */
const LAST_PARTS = 6

/** More references in a row are a circle. */
const REFERENCES = 5

interface HashedFile {
  readonly file: string
  readonly hash: string
}

export async function commitOf(root: string): Promise<Revision | undefined> {
  const name = root
    .split(sep)
    .slice(-LAST_PARTS)
    .findLast((part) => COMMIT.test(part))
  if (name !== undefined) return { id: name, from: 'git-sync' }
  const id = await commitFromGit(root)
  return id === undefined ? undefined : { id, from: 'git' }
}

/** For a tree without a commit. Equal exactly if names and bytes are equal. */
export function contentRevision(files: readonly HashedFile[]): Revision {
  const digest = sha256(files.map(({ file, hash }) => `${JSON.stringify(file)} ${hash}\n`).join(''))
  return { id: `content-${digest.slice(0, 12)}`, from: 'content' }
}

async function commitFromGit(root: string): Promise<string | undefined> {
  const folder = await findGitFolder(root)
  if (folder === undefined) return undefined
  // A worktree has its own HEAD and shares the references of the repository.
  const common = (await readText(join(folder, 'commondir')))?.trim()
  const shared = common === undefined ? folder : resolve(folder, common)
  let text = await readText(join(folder, 'HEAD'))
  for (let step = 0; step < REFERENCES && text !== undefined; step += 1) {
    const reference = /^ref: *(refs\/\S+)/.exec(text)?.[1]
    if (reference === undefined) break
    if (reference.split('/').includes('..')) return undefined
    text =
      (await readText(join(folder, reference))) ??
      (await readText(join(shared, reference))) ??
      packed(await readText(join(shared, 'packed-refs')), reference)
  }
  const id = text?.trim()
  return id !== undefined && COMMIT.test(id) ? id : undefined
}

export async function hasReftable(root: string): Promise<boolean> {
  const folder = await findGitFolder(root)
  const head = folder && (await readText(join(folder, 'HEAD')))
  return head?.trim() === 'ref: refs/heads/.invalid'
}

/** In a worktree, `.git` is a file that names the folder. */
async function findGitFolder(root: string): Promise<string | undefined> {
  for (let folder = root; ; folder = dirname(folder)) {
    const git = join(folder, '.git')
    const stats = await stat(git).catch(() => undefined)
    if (stats?.isDirectory() === true) return git
    if (stats?.isFile() === true) {
      const target = /^gitdir: *(.+)/.exec((await readText(git)) ?? '')?.[1]?.trim()
      return target === undefined ? undefined : resolve(folder, target)
    }
    if (dirname(folder) === folder) return undefined
  }
}

function packed(text: string | undefined, reference: string): string | undefined {
  const line = text?.split('\n').find((candidate) => candidate.trimEnd().endsWith(` ${reference}`))
  return line?.split(' ', 1)[0]
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

/**
 * Time when git-sync or Kubernetes swapped its link, in ms since the epoch.
 * @param root as configured, with its links
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
