import { MORE_FILES, isBelow, isOutOfFiles } from '../../lib/files.ts'
import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, sep } from 'node:path'
import type { Finding } from '../../kinds/finding.ts'
import { compareTexts, findingOfFile } from '../diagnostics/diagnostic.ts'
import { isLockFileName } from '../validate/outline.ts'
import type { Limits } from '../yaml/limits.ts'
import { readIgnoreFile } from './ignore-file.ts'
import { fileErrorCode } from './read-bytes.ts'
import { printable } from '../../lib/shown-text.ts'

export interface FoundFile {
  readonly file: string
  readonly path: string
}

export interface Tree {
  readonly files: FoundFile[]
  readonly findings: Finding[]
  /** Unreadable files and folders. A folder ends with `/`. The empty text means any path. */
  readonly unread: string[]
  readonly links: Map<string, string>
  readonly ignoreFile: ReturnType<typeof readIgnoreFile> | undefined
  vanished: boolean
}

interface Walk extends Tree {
  readonly root: string
  readonly limits: Limits
  readonly signal: AbortSignal
  readonly seen: Set<string>
  /** Links are followed last, because a real file or folder wins over a link to it. */
  readonly waiting: FoundFile[]
  folders: number
}

export const MANIFEST = /^(?!(?:[^]*\/)?kustomization\.ya?ml$)[^]*\.(?:ya?ml|json)$/i

/** Folders of a file, each with and without `/`: `x/y.yaml` gives `x` and `x/`. */
export function foldersOf(file: string): readonly string[] {
  const folders: string[] = []
  for (let at = file.indexOf('/'); at >= 0; at = file.indexOf('/', at + 1))
    folders.push(file.slice(0, at), file.slice(0, at + 1))
  return folders
}

export async function walkTree(root: string, limits: Limits, signal: AbortSignal): Promise<Tree> {
  const isFile = (await stat(root)).isFile()
  const walk: Walk = {
    root,
    limits,
    signal,
    ignoreFile: isFile ? undefined : readIgnoreFile(root),
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
  // `waiting` can grow: links add links.
  for (const link of walk.waiting) await followLink(walk, link)
  const files = walk.files.toSorted((a, b) => compareTexts(a.file, b.file))
  if (files.length > limits.files) refuseFile(walk, '', tooManyFiles(files[limits.files]?.file ?? '', limits))
  return { ...walk, files: files.slice(0, limits.files) }
}

async function walkFolder(walk: Walk, folder: FoundFile, entries: readonly Dirent[]): Promise<void> {
  walk.seen.add(folder.path)
  const within = folder.path.endsWith(sep) ? folder.path : folder.path + sep
  const shown = entries
    .filter(
      (entry) =>
        !entry.name.startsWith('.') &&
        walk.ignoreFile?.isIgnored(`${folder.file}${entry.name}${entry.isDirectory() ? '/' : ''}`) !== true,
    )
    .toSorted((a, b) => compareTexts(a.name, b.name))
  for (const entry of shown) {
    walk.signal.throwIfAborted()
    if (walk.files.length > walk.limits.files) return
    const found = { file: folder.file + entry.name, path: within + entry.name }
    if (entry.isDirectory()) await enterFolder(walk, found)
    else if (entry.isSymbolicLink()) walk.waiting.push(found)
    else if (MANIFEST.test(entry.name)) addFile(walk, found, entry)
  }
}

async function enterFolder(walk: Walk, folder: FoundFile): Promise<void> {
  const within = { file: `${folder.file}/`, path: folder.path }
  walk.folders += 1
  if (walk.folders > walk.limits.files) {
    if (!walk.unread.includes('')) refuseFile(walk, '', tooManyFiles(folder.file, walk.limits))
    return
  }
  if (isOddName(folder.file)) return refuseFile(walk, within.file, oddName(folder.file))
  if (isLockFileName(folder.file)) return refuseLink(walk, folder.file, notRegular(folder.file))
  let listing: readonly Dirent[]
  try {
    listing = await readdir(folder.path, { withFileTypes: true })
  } catch (error) {
    const code = fileErrorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') walk.vanished = true
    else refuseFile(walk, within.file, unreadableFinding(within.file, 'folder', code))
    return
  }
  await walkFolder(walk, within, listing)
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

/** Follows a link. Its target must be below the root, not yet read, and must not contain the link. */
async function followLink(walk: Walk, link: FoundFile): Promise<void> {
  walk.signal.throwIfAborted()
  const isManifest = MANIFEST.test(link.file)
  let target: string
  try {
    target = await realpath(link.path)
  } catch (error) {
    const code = fileErrorCode(error)
    if (code === 'ELOOP') refuseLink(walk, link.file, linkFinding(link.file, 'link-loop'))
    else if (code !== 'ENOENT' && code !== 'ENOTDIR')
      refuseLink(walk, link.file, unreadableFinding(link.file, 'folder', code))
    // A broken link without a manifest's name is ignored: it can have any purpose.
    else if (isManifest) refuseLink(walk, link.file, linkFinding(link.file, 'link-broken'))
    return
  }
  const stats = await stat(target).catch(() => undefined)
  if (stats === undefined) {
    walk.vanished = true
    return
  }
  if (!stats.isDirectory() && !isManifest) return
  if (!isBelow(target, walk.root)) {
    const refuse = stats.isDirectory() ? refuseLink : refuseFile
    return refuse(walk, link.file, linkFinding(link.file, 'link-outside'))
  }
  if (stats.isDirectory() && isBelow(dirname(link.path), target)) {
    walk.findings.push(linkFinding(link.file, 'link-loop'))
    return
  }
  walk.links.set(link.path, target)
  if (walk.seen.has(target)) walk.findings.push(linkFinding(link.file, 'link-repeated'))
  else if (stats.isDirectory()) await enterFolder(walk, { file: link.file, path: target })
  else addFile(walk, { file: link.file, path: target }, stats)
}

function refuseFile(walk: Walk, file: string, finding: Finding): void {
  walk.findings.push(finding)
  walk.unread.push(file)
}

function refuseLink(walk: Walk, file: string, finding: Finding): void {
  refuseFile(walk, file, finding)
  walk.unread.push(`${file}/`)
}

const PLAIN = /^[ -~]*$/

/** Whether a name has control characters or is not UTF-8. Node cannot open names that are not UTF-8. */
function isOddName(file: string): boolean {
  return !PLAIN.test(file) && (printable(file) !== file || file.includes('\ufffd') || /[\t\n]/.test(file))
}

function oddName(file: string): Finding {
  return findingOfFile(printable(file).replaceAll(/[\t\n]/g, '\ufffd'), {
    severity: 'error',
    code: 'file-name',
    message: 'The name of this file or folder holds control characters or is not UTF-8.',
    hint: 'Rename it. Until then, it is not read.',
  })
}

export function unreadableFinding(file: string, what: 'file' | 'folder', code: string): Finding {
  const [message, hint] = isOutOfFiles(code)
    ? [
        `The ${what} cannot be opened: too many open files (${code}). The ${what} is not at fault.`,
        MORE_FILES,
      ]
    : [`The ${what} cannot be read (${code}).`, 'Give Pipewright the right to read it.']
  return findingOfFile(file, {
    severity: 'error',
    code: `${what}-unreadable`,
    message,
    hint: `${hint} A daemon keeps using the earlier content.`,
  })
}

export function notRegular(file: string): Finding {
  return findingOfFile(file, {
    severity: 'error',
    code: 'file-not-regular',
    message: 'This is a folder, device, pipe or socket instead of a file.',
    hint: 'Remove it.',
  })
}

function tooManyFiles(file: string, limits: Limits): Finding {
  return findingOfFile(file, {
    severity: 'error',
    code: 'too-many-files',
    message: `The directory holds more than ${limits.files} files or folders. This path and later paths are not read.`,
    hint: 'Put several manifests into one file, or run one instance per directory.',
  })
}

type LinkCode = 'link-loop' | 'link-broken' | 'link-outside' | 'link-repeated'

const LINK_WORDS: Readonly<Record<LinkCode, readonly [string, string]>> = {
  'link-loop': ['The symbolic link leads back to itself or to a folder above it.', 'Remove it.'],
  'link-broken': [
    'The target of the symbolic link is missing.',
    'Correct or remove the link. A daemon keeps using the earlier content.',
  ],
  'link-outside': [
    'The symbolic link leads out of the directory.',
    'Replace the link by a copy. Files outside are not read.',
  ],
  'link-repeated': ['The symbolic link is ignored, because its target is read anyway.', 'Remove the link.'],
}

function linkFinding(file: string, code: LinkCode): Finding {
  const [message, hint] = LINK_WORDS[code]
  const severity = code === 'link-repeated' ? 'warning' : 'error'
  return findingOfFile(file, { severity, code, message, hint })
}
