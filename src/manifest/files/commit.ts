import { lstat, open, readdir, readFile, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { constants, inflateSync } from 'node:zlib'
import { sha256 } from '../../lib/digest.ts'
import type { Revision } from '../../contract/catalog.ts'

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** Number of path parts, from the end, that might be a commit, as in `<commit>/deploy/manifests`. */
const LAST_PARTS = 6

/** Maximum Git references to follow. More references in a row are a circle. */
const REFERENCES = 5

export async function commitOf(root: string): Promise<Revision | undefined> {
  const name = root
    .split(sep)
    .slice(-LAST_PARTS)
    .findLast((part) => COMMIT.test(part))
  if (name !== undefined) return { id: name, from: 'git-sync' }
  const id = await commitFromGit(root)
  return id === undefined ? undefined : { id, from: 'git' }
}

/** Revision of files without a commit: a digest of their names and bytes. */
export function contentRevision(
  files: readonly { readonly file: string; readonly hash: string }[],
): Revision {
  const digest = sha256(files.map(({ file, hash }) => `${JSON.stringify(file)} ${hash}\n`).join(''))
  return { id: `content-${digest.slice(0, 12)}`, from: 'content' }
}

async function commitFromGit(root: string): Promise<string | undefined> {
  const folder = await findGitFolder(root)
  if (folder === undefined) return undefined
  const shared = await sharedFolder(folder)
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

/** The folder with references and objects. A worktree uses the folder of its repository. */
async function sharedFolder(folder: string): Promise<string> {
  const common = (await readText(join(folder, 'commondir')))?.trim()
  return common === undefined ? folder : resolve(folder, common)
}

const COMMIT_BYTES = 16_384

const LONGEST_WORDS = 200

export async function commitFacts(root: string, id: string): Promise<Revision['commit']> {
  const folder = COMMIT.test(id) ? await findGitFolder(root) : undefined
  if (folder === undefined) return undefined
  try {
    const objects = join(await sharedFolder(folder), 'objects')
    const loose = await beginningOf(join(objects, id.slice(0, 2), id.slice(2))).catch(() => undefined)
    const bytes = loose ?? (await packedCommit(join(objects, 'pack'), Buffer.from(id, 'hex')))
    if (bytes === undefined) return undefined
    const text = inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString('utf8')
    const [, author] = /^author ([^<\n]*)</m.exec(text) ?? []
    const [, subject] = /\n\n\s*(.*)/.exec(text) ?? []
    if (author === undefined || subject === undefined) return undefined
    return { author: author.trimEnd().slice(0, LONGEST_WORDS), subject: subject.slice(0, LONGEST_WORDS) }
  } catch {
    return undefined
  }
}

async function beginningOf(path: string): Promise<Buffer> {
  await using file = await open(path)
  return await bytesAt(file, 0, COMMIT_BYTES)
}

async function packedCommit(folder: string, hash: Buffer): Promise<Buffer | undefined> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.idx')) continue
    await using index = await open(join(folder, name))
    const offset = await offsetIn(index, hash)
    if (offset === undefined) continue
    await using pack = await open(join(folder, name.replace(/idx$/, 'pack')))
    const bytes = await bytesAt(pack, offset, COMMIT_BYTES)
    // The object's header has its type, and its size in groups of seven bits.
    const isCommit = ((bytes.at(0) ?? 0) >> 4) % 8 === 1
    return isCommit ? bytes.subarray(bytes.findIndex((byte) => byte < 0x80) + 1) : undefined
  }
  return undefined
}

const INDEX_HEADER_BYTES = 8
const FANOUT_BYTES = 1_024

/** Offset of an object in its pack. Format: gitformat-pack(5), version 2. */
async function offsetIn(index: FileHandle, hash: Buffer): Promise<number | undefined> {
  const fanout = await bytesAt(index, INDEX_HEADER_BYTES, FANOUT_BYTES)
  const [first = 0] = hash
  const start = first === 0 ? 0 : fanout.readUInt32BE(4 * (first - 1))
  const end = fanout.readUInt32BE(4 * first)
  const total = fanout.readUInt32BE(FANOUT_BYTES - 4)
  const names = INDEX_HEADER_BYTES + FANOUT_BYTES
  const own = await bytesAt(index, names + start * hash.length, (end - start) * hash.length)
  for (let at = start; at < end; at += 1) {
    if (hash.compare(own, (at - start) * hash.length, (at - start + 1) * hash.length) !== 0) continue
    const offset = (await bytesAt(index, names + total * (hash.length + 4) + at * 4, 4)).readUInt32BE()
    return offset < 0x8000_0000 ? offset : undefined
  }
  return undefined
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

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
 * Time when git-sync or Kubernetes last replaced its symbolic link, in ms since the epoch.
 * @param root the configured path, with links
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
