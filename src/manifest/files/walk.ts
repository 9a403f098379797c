import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, sep } from 'node:path'
import type { Finding } from '../../kinds/finding.ts'
import { compareTexts, findingOfFile } from '../diagnostics/diagnostic.ts'
import type { Limits } from '../yaml/limits.ts'
import { readIgnoreFile } from './ignore-file.ts'
import { isOutOfFiles, MORE_FILES } from '../../lib/open-files.ts'
import { codeOf } from './read-bytes.ts'
import { printable } from '../../lib/shown-text.ts'

/** A file to be read: its name below the root, with forward slashes, and where it really is. */
export interface FoundFile {
  readonly file: string
  readonly path: string
}

/** What stands below a root, before anything is read. */
export interface Tree {
  /** In the order of their names. */
  readonly files: readonly FoundFile[]
  readonly findings: readonly Finding[]
  /** Files, and folders with a `/` at the end, that nobody could look into. An empty text: anything at all. */
  readonly unread: readonly string[]
  /** Each link that was followed, and where it led. */
  readonly links: ReadonlyMap<string, string>
  /** Something was listed and then gone. */
  readonly vanished: boolean
  /** Whether the root is itself the only file. */
  readonly isFile: boolean
}

interface Walk {
  readonly root: string
  readonly limits: Limits
  readonly signal: AbortSignal
  readonly isIgnored: (path: string) => boolean
  readonly files: FoundFile[]
  readonly findings: Finding[]
  readonly unread: string[]
  readonly links: Map<string, string>
  /** Real paths that were reached; of files only once links are followed, since nothing else leads to one twice. */
  readonly seen: Set<string>
  /** Links wait until all that really is there was seen, so that a link never wins over the thing itself. */
  readonly waiting: FoundFile[]
  folders: number
  vanished: boolean
}

const MANIFEST = /\.(?:ya?ml|json)$/i

/** The folders that a file stands in, each also with the `/` at its end: `x/y.yaml` stands in `x` and `x/`. */
export function foldersOf(file: string): readonly string[] {
  const folders: string[] = []
  for (let at = file.indexOf('/'); at >= 0; at = file.indexOf('/', at + 1))
    folders.push(file.slice(0, at), file.slice(0, at + 1))
  return folders
}

/**
 * Finds all manifests below a root that is already resolved; a root that is a file is the only one.
 * @throws the file system's error when the root itself cannot be listed, {@link IgnoreFileError}, and the signal's reason
 */
export async function walkTree(root: string, limits: Limits, signal: AbortSignal): Promise<Tree> {
  const isFile = (await stat(root)).isFile()
  const walk: Walk = {
    root,
    limits,
    signal,
    isIgnored: isFile ? () => false : readIgnoreFile(root),
    files: [],
    findings: [],
    unread: [],
    links: new Map(),
    seen: new Set(),
    waiting: [],
    folders: 0,
    vanished: false,
  }
  if (isFile) walk.files.push({ file: basename(root), path: root })
  else await walkFolder(walk, { file: '', path: root }, await readdir(root, { withFileTypes: true }))
  if (walk.waiting.length > 0) for (const { path } of walk.files) walk.seen.add(path)
  // Following a link may find further links.
  for (const link of walk.waiting) await followLink(walk, link)
  const files = walk.files.toSorted((a, b) => compareTexts(a.file, b.file))
  if (files.length > limits.files) {
    walk.findings.push(tooManyFiles(files[limits.files]?.file ?? '', limits))
    walk.unread.push('')
  }
  return { ...walk, isFile, files: files.slice(0, limits.files) }
}

async function walkFolder(walk: Walk, folder: FoundFile, entries: readonly Dirent[]): Promise<void> {
  walk.seen.add(folder.path)
  const within = folder.path.endsWith(sep) ? folder.path : folder.path + sep
  const shown = entries
    .filter(
      (entry) =>
        !entry.name.startsWith('.') &&
        !walk.isIgnored(`${folder.file}${entry.name}${entry.isDirectory() ? '/' : ''}`),
    )
    .toSorted((a, b) => compareTexts(a.name, b.name))
  const folders = shown.filter((entry) => entry.isDirectory()).map(({ name }) => within + name)
  const nextListing = listAhead(folders)
  for (const entry of shown) {
    walk.signal.throwIfAborted()
    if (walk.files.length > walk.limits.files) return
    const found = { file: folder.file + entry.name, path: within + entry.name }
    if (entry.isDirectory()) await enterFolder(walk, found, nextListing(found.path))
    else if (entry.isSymbolicLink()) walk.waiting.push(found)
    else if (MANIFEST.test(entry.name)) addFile(walk, found, entry)
  }
}

async function enterFolder(walk: Walk, folder: FoundFile, listing: Promise<Listing>): Promise<void> {
  const within = { file: `${folder.file}/`, path: folder.path }
  walk.folders += 1
  if (walk.folders > walk.limits.files) {
    if (!walk.unread.includes('')) walk.findings.push(tooManyFiles(folder.file, walk.limits))
    walk.unread.push('')
    return
  }
  if (isOddName(folder.file)) {
    walk.findings.push(oddName(folder.file))
    walk.unread.push(within.file)
    return
  }
  const listed = await listing
  if (typeof listed !== 'string') await walkFolder(walk, within, listed)
  else if (listed === 'ENOENT' || listed === 'ENOTDIR') walk.vanished = true
  else {
    const finding = findingOfFile(within.file, {
      severity: 'error',
      code: 'folder-unreadable',
      message: isOutOfFiles(listed)
        ? `The folder cannot be opened: too many open files (${listed}). The folder is not at fault.`
        : `The folder cannot be listed (${listed}).`,
      hint: `${isOutOfFiles(listed) ? MORE_FILES : 'Give the process the right to read it.'} A daemon keeps what it read from it before.`,
    })
    refuseFile(walk, within.file, finding)
  }
}

/** What is in a folder, or the code of the error that says why nobody knows. */
type Listing = readonly Dirent[] | string

/** Never rejects. Does not hold the process up, whatever the file system does. */
async function listFolder(path: string): Promise<Listing> {
  return readdir(path, { withFileTypes: true }).catch(codeOf)
}

/** Folders that are listed before they are asked for: one by one, each would wait for a trip through the thread pool. */
const AHEAD = 32

/** @returns gives their listings, one a call, in the order of `folders` */
function listAhead(folders: readonly string[]): (folder: string) => Promise<Listing> {
  const begun = folders.slice(0, AHEAD).map(listFolder)
  let next = AHEAD
  return (folder) => {
    const following = folders[next]
    next += 1
    if (following !== undefined) begun.push(listFolder(following))
    return begun.shift() ?? listFolder(folder)
  }
}

function addFile(walk: Walk, found: FoundFile, kind: Pick<Dirent, 'isFile'>): void {
  if (isOddName(found.file)) refuseFile(walk, found.file, oddName(found.file))
  else if (!kind.isFile()) refuseFile(walk, found.file, notRegular(found.file))
  else if (walk.links.size === 0) walk.files.push(found)
  else if (!walk.seen.has(found.path)) {
    walk.seen.add(found.path)
    walk.files.push(found)
  }
}

/** Follows a link that stays below the root, leads to something new and not back up. */
async function followLink(walk: Walk, link: FoundFile): Promise<void> {
  walk.signal.throwIfAborted()
  const isManifest = MANIFEST.test(link.file)
  let target: string
  try {
    target = await realpath(link.path)
  } catch (error) {
    const code = codeOf(error)
    // A link whose name is not a manifest's may have been meant for anything; broken, it tells nothing.
    if (code === 'ELOOP') refuseLink(walk, link.file, linkFinding(link.file, 'link-loop'))
    else if (isManifest) refuseLink(walk, link.file, linkFinding(link.file, 'link-broken'))
    return
  }
  const stats = await stat(target).catch(() => undefined)
  if (stats === undefined) {
    walk.vanished = true
    return
  }
  if (!stats.isDirectory() && !isManifest) return
  if (!isBelow(target, walk.root)) return refuseLink(walk, link.file, linkFinding(link.file, 'link-outside'))
  if (stats.isDirectory() && isBelow(dirname(link.path), target)) {
    return refuseLink(walk, link.file, linkFinding(link.file, 'link-loop'))
  }
  walk.links.set(link.path, target)
  if (walk.seen.has(target)) walk.findings.push(linkFinding(link.file, 'link-repeated'))
  else if (stats.isDirectory()) await enterFolder(walk, { file: link.file, path: target }, listFolder(target))
  else addFile(walk, { file: link.file, path: target }, stats)
}

function refuseFile(walk: Walk, file: string, finding: Finding): void {
  walk.findings.push(finding)
  walk.unread.push(file)
}

/** It may have led to a file or to a folder. */
function refuseLink(walk: Walk, file: string, finding: Finding): void {
  refuseFile(walk, file, finding)
  walk.unread.push(`${file}/`)
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

const PLAIN = /^[ -~]*$/

/** Names that would break a line, or that were not UTF-8 and so cannot be opened by the name that was listed. */
function isOddName(file: string): boolean {
  return !PLAIN.test(file) && (printable(file) !== file || file.includes('\ufffd') || /[\t\n]/.test(file))
}

function oddName(file: string): Finding {
  return findingOfFile(printable(file).replaceAll(/[\t\n]/g, '\ufffd'), {
    severity: 'error',
    code: 'file-name',
    message: 'The name holds control characters or is not UTF-8.',
    hint: 'Rename it; it is not read.',
  })
}

export function notRegular(file: string): Finding {
  return findingOfFile(file, {
    severity: 'error',
    code: 'file-not-regular',
    message: 'This is not a file, but a device, a pipe or a socket.',
    hint: 'Remove it from the directory.',
  })
}

function tooManyFiles(file: string, limits: Limits): Finding {
  return findingOfFile(file, {
    severity: 'error',
    code: 'too-many-files',
    message: `The directory holds more than ${limits.files} files or folders; this one and those after it are not read.`,
    hint: 'Put several manifests into one file, or run one instance per directory.',
  })
}

type LinkCode = 'link-loop' | 'link-broken' | 'link-outside' | 'link-repeated'

const LINK_WORDS: Readonly<Record<LinkCode, readonly [string, string]>> = {
  'link-loop': ['The symbolic link leads back to itself or to a folder above it.', 'Remove it.'],
  'link-broken': [
    'The symbolic link leads nowhere.',
    'Correct or remove it. A daemon keeps what it read from it before.',
  ],
  'link-outside': [
    'The symbolic link leads out of the directory.',
    'Put a copy in its place; nothing outside is read.',
  ],
  'link-repeated': ['The symbolic link leads to something that is read anyway.', 'Remove it; it is ignored.'],
}

function linkFinding(file: string, code: LinkCode): Finding {
  const [message, hint] = LINK_WORDS[code]
  return findingOfFile(file, {
    severity: code === 'link-repeated' ? 'warning' : 'error',
    code,
    message,
    hint,
  })
}
