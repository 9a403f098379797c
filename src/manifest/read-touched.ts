import { lstatSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { sha256 } from '../lib/digest.ts'
import type { Limits } from './limits.ts'
import { parseFile } from './parse-file.ts'
import type { ParsedFile } from './parse-file.ts'
import { codeOf, readBytes } from './read-bytes.ts'
import type { DirectoryReading } from './read-directory.ts'
import { commitOf, contentRevision } from './revision.ts'
import { isManifestName } from './walk.ts'

export interface TouchedOptions {
  readonly root: string
  readonly limits: Limits
  /** The reading before, to which all that was not touched is left. */
  readonly last: DirectoryReading
  /** Paths without links. */
  readonly touched: ReadonlySet<string>
}

/**
 * The last reading with the touched files read again. Only for the plainest of cases, an edit of files that were there
 * before, in the same root at the same commit; whatever else may have happened needs a whole reading.
 * @returns `undefined` when a whole reading is needed
 */
export async function readTouched({
  root,
  limits,
  last,
  touched,
}: TouchedOptions): Promise<DirectoryReading | undefined> {
  if (last.problem !== undefined || last.unread.length > 0 || last.linked) return undefined
  const before = await revisionNow(root, last)
  if (before === 'other') return undefined
  const buffer = Buffer.allocUnsafe(limits.fileBytes + 1)
  const read = new Map<string, ParsedFile>()
  const stamps = new Map(last.stamps)
  for (const path of touched) {
    const file = relative(last.folder, path).split(sep).join('/')
    const known = last.files.get(file)
    if (known === undefined) {
      if (isOfInterest(path, file, last)) return undefined
      continue
    }
    // A link that took the place of a file is not followed here.
    if (!isPlainFile(path)) return undefined
    const reading = readBytes(path, buffer)
    if (reading.what !== 'read') return undefined
    if (reading.stamp === undefined) stamps.delete(file)
    else stamps.set(file, reading.stamp)
    const hash = sha256(reading.bytes)
    if (hash !== known.hash) read.set(file, parseFile({ file, hash, bytes: reading.bytes }, limits))
  }
  if ((await revisionNow(root, last)) === 'other') return undefined
  const files = new Map(last.files)
  for (const [file, parsed] of read) files.set(file, parsed)
  const revision = last.revision.from === 'content' ? contentRevision([...files.values()]) : last.revision
  return { ...last, files, stamps, revision, parsed: read.size }
}

/** Whether the root is still the one that was read last, at the commit that it was at. */
async function revisionNow(root: string, last: DirectoryReading): Promise<'same' | 'other'> {
  if ((await realpath(root).catch(() => undefined)) !== last.root) return 'other'
  const commit = await commitOf(last.root)
  return commit === undefined
    ? last.revision.from === 'content'
      ? 'same'
      : 'other'
    : commit.id === last.revision.id
      ? 'same'
      : 'other'
}

/** Whether something at a path that was no manifest bears on what is read: a new manifest, a folder, a link. */
function isOfInterest(path: string, file: string, last: DirectoryReading): boolean {
  const what = kindAt(path)
  if (what === 'other') return true
  if (what === 'file') return isManifestName(file)
  // Gone. Manifests that were never read do not matter; a folder of those that were does.
  const folder = `${file}/`
  return last.files.keys().some((name) => name.startsWith(folder))
}

function isPlainFile(path: string): boolean {
  return kindAt(path) === 'file'
}

function kindAt(path: string): 'file' | 'gone' | 'other' {
  try {
    return lstatSync(path).isFile() ? 'file' : 'other'
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'gone' : 'other'
  }
}
