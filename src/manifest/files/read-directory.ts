import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { SourceProblem, Revision } from '../../contract/catalog.ts'
import type { Finding } from '../../kinds/finding.ts'
import { sha256 } from '../../lib/digest.ts'
import { createReadingBudget, type ReadingBudget } from './reading-budget.ts'
import { createSlices } from '../validate/slices.ts'
import { findingOfFile } from '../diagnostics/diagnostic.ts'
import type { Profile } from '../../kinds/profile.ts'
import type { Limits } from '../yaml/limits.ts'
import { parseInSlices, type FileContent, type ParsedFile } from '../validate/parse-file.ts'
import { createFindingRoom } from '../validate/parse-options.ts'
import { isOutOfFiles, MORE_FILES } from '../../lib/open-files.ts'
import { codeOf, readBytes, isUntouched, type Stamp } from './read-bytes.ts'
import { commitOf, contentRevision } from './commit.ts'
import { IgnoreFileError } from './ignore-file.ts'
import { notRegular, walkTree, type FoundFile, type Tree } from './walk.ts'

/** One reading of the directory: all of it, at one revision. */
export interface Reading {
  readonly revision: Revision
  /** By path below the root, in order. Empty when there is a problem. */
  readonly files: ReadonlyMap<string, ParsedFile>
  /** About files and folders that could not be read. */
  readonly findings: readonly Finding[]
  /** Files, and folders with a `/` at the end, that nobody could look into. An empty text: anything at all. */
  readonly unread: readonly string[]
  /** Why this reading says nothing. */
  readonly problem: SourceProblem | undefined
  /** How many files were parsed, because their bytes were new. */
  readonly parsed: number
}

/** A reading of a real directory. */
export interface DirectoryReading extends Reading {
  /** The folder that the names of files are relative to: the root, or where it stands when it is a file. */
  readonly folder: string
  /** Of the files that may be taken for unchanged while they bear the same stamp. */
  readonly stamps: ReadonlyMap<string, Stamp>
}

export interface ReadOptions {
  readonly root: string
  readonly profile: Profile
  readonly limits: Limits
  /** The reading before, whose files are not parsed again while their bytes are the same. */
  readonly previous: Pick<DirectoryReading, 'files' | 'stamps'> | undefined
  /** `stamps`: a file that bears the stamp of the reading before is not opened. */
  readonly trust: 'bytes' | 'stamps'
  readonly onRead?: OnRead
  readonly signal: AbortSignal
}

/** Called after each file, with how many there are. */
export type OnRead = (done: number, of: number) => void

/** How often a reading starts over before it gives up. */
const TRIES = 5

/** Milliseconds before it does: a checkout that is under way takes a moment. */
const PAUSE = 40

/**
 * Reads the directory. It is read as one state or not at all: when the root, or a link below it, leads elsewhere
 * afterwards, or something vanished on the way, the reading starts over (design §7).
 * @throws the signal's reason; everything else is a finding or the reading's `problem`
 */
export async function readDirectory(options: ReadOptions): Promise<DirectoryReading> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    options.signal.throwIfAborted()
    const reading = await tryToRead(options)
    if (reading !== undefined) return reading
    await setTimeout(PAUSE * attempt, undefined, { signal: options.signal }).catch(() => undefined)
  }
  return failed({
    reason: 'SourceUnstable',
    message: `The manifests directory changed during each of ${TRIES} readings.`,
    unfound: new Set(),
  })
}

async function tryToRead(options: ReadOptions): Promise<DirectoryReading | undefined> {
  let root: string | undefined
  let tree: Tree
  try {
    root = await resolveRoot(options.root)
    tree = await walkTree(root, options.limits, options.signal)
  } catch (error) {
    options.signal.throwIfAborted()
    // Resolved and then gone: a swap came in between, and the next try finds the new tree.
    return root !== undefined && codeOf(error) === 'ENOENT' ? undefined : unreadable(error)
  }
  const before = await commitOf(root)
  const { contents, budget } = await readAll(tree.files, options)
  if (tree.vanished || contents.includes('vanished')) return undefined
  const files = new Map<string, ParsedFile>()
  const stamps = new Map<string, Stamp>()
  const findings = [...tree.findings, ...budget.findings()]
  const unread = [...tree.unread, ...budget.left]
  let parsed = 0
  for (const content of contents) {
    if (content === 'vanished') continue
    if ('finding' in content) {
      findings.push(content.finding)
      unread.push(content.finding.file)
      continue
    }
    const { file } = content.parsed
    if (options.previous?.files.get(file) !== content.parsed) parsed += 1
    files.set(file, content.parsed)
    if (content.stamp !== undefined) stamps.set(file, content.stamp)
  }
  if (!(await isSameStill(options.root, root, tree, before))) return undefined
  return {
    folder: tree.isFile ? dirname(root) : root,
    stamps,
    revision: before ?? contentRevision([...files.values()]),
    files,
    findings,
    unread,
    problem: undefined,
    parsed,
  }
}

/** How often a path is resolved before it counts as leading nowhere: the tree behind a link may go in the middle of it. */
const RESOLVE_TRIES = 3

async function resolveRoot(given: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await realpath(given)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || attempt === RESOLVE_TRIES) throw error
    }
  }
}

type Content =
  | 'vanished'
  | { readonly finding: Finding }
  | { readonly parsed: ParsedFile; readonly stamp: Stamp | undefined }

/** A file whose bytes are new, and wait to be parsed. */
interface Unparsed {
  readonly content: FileContent
  readonly stamp: Stamp | undefined
}

/**
 * All files, in their order; or until one is gone. What there is no room for is left out: those that were there before come first,
 * so that no newcomer takes their room (design law 5).
 */
async function readAll(
  files: readonly FoundFile[],
  options: ReadOptions,
): Promise<{ readonly contents: readonly Content[]; readonly budget: ReadingBudget }> {
  const { profile, limits, signal, onRead } = options
  const contents = new Map<FoundFile, Content>()
  const buffer = Buffer.allocUnsafe(limits.fileBytes + 1)
  const slices = createSlices()
  const room = createFindingRoom()
  const budget = createReadingBudget(limits)
  let done = 0
  for (const found of knownFirst(files, options.previous)) {
    const content = readOne(found, options, buffer)
    if (typeof content === 'object' && 'content' in content) {
      const { file, bytes } = content.content
      const { length } = bytes
      if (budget.hasRoomFor(file, length)) {
        const parsed = await parseInSlices(content.content, { profile, limits, room }, slices)
        budget.add(parsed, length)
        contents.set(found, { parsed, stamp: content.stamp })
      }
    } else {
      contents.set(found, content)
      if (content === 'vanished') break
      if ('parsed' in content) budget.add(content.parsed, content.stamp?.size ?? 0)
    }
    done += 1
    onRead?.(done, files.length)
    signal.throwIfAborted()
    if (slices.isOver()) await slices.next()
  }
  return { contents: files.flatMap((found) => contents.get(found) ?? []), budget }
}

function knownFirst(files: readonly FoundFile[], previous: ReadOptions['previous']): readonly FoundFile[] {
  const isKnown = ({ file }: FoundFile) => previous?.files.has(file) === true
  const known = files.filter(isKnown)
  if (known.length === 0 || known.length === files.length) return files
  return [...known, ...files.filter((found) => !isKnown(found))]
}

function readOne(
  { file, path }: FoundFile,
  { limits, previous, trust }: ReadOptions,
  buffer: Buffer,
): Content | Unparsed {
  const known = previous?.files.get(file)
  const before = trust === 'stamps' ? previous?.stamps.get(file) : undefined
  if (known !== undefined && before !== undefined && isUntouched(path, before)) {
    return { parsed: known, stamp: before }
  }
  const reading = readBytes(path, buffer)
  if (reading.what === 'vanished') return 'vanished'
  if (reading.what === 'not-regular') return { finding: notRegular(file) }
  if (reading.what === 'too-large') return { finding: tooLarge(file, limits) }
  if (reading.what === 'unreadable') return { finding: fileUnreadable(file, reading.error) }
  const { bytes, stamp } = reading
  const hash = sha256(bytes)
  if (known?.hash === hash) return { parsed: known, stamp }
  return { content: { file, hash, bytes }, stamp }
}

async function isSameStill(
  given: string,
  root: string,
  tree: Tree,
  before: Revision | undefined,
): Promise<boolean> {
  if ((await realpath(given).catch(() => undefined)) !== root) return false
  for (const [link, target] of tree.links) {
    if ((await realpath(link).catch(() => undefined)) !== target) return false
  }
  return (await commitOf(root))?.id === before?.id
}

function unreadable(error: unknown): DirectoryReading {
  if (error instanceof IgnoreFileError) {
    return failed({ reason: 'SourceUnreadable', message: error.message, unfound: 'all' })
  }
  const code = codeOf(error)
  const why = code === 'ENOENT' ? 'is missing' : `cannot be listed (${code})`
  const hint = isOutOfFiles(code) ? ` The process has no free file descriptor. ${MORE_FILES}` : ''
  return failed({
    reason: 'SourceUnreadable',
    message: `The manifests directory ${why}.${hint}`,
    unfound: 'all',
  })
}

function failed(problem: SourceProblem): DirectoryReading {
  return {
    folder: '',
    stamps: new Map(),
    revision: contentRevision([]),
    files: new Map(),
    findings: [],
    unread: [''],
    problem,
    parsed: 0,
  }
}

function tooLarge(file: string, limits: Limits): Finding {
  return findingOfFile(file, {
    severity: 'error',
    code: 'file-too-large',
    message: `The file is larger than ${sizeOf(limits.fileBytes)}.`,
    hint: 'Split it into several files. A daemon keeps what it read from it before.',
  })
}

function fileUnreadable(file: string, code: string): Finding {
  return findingOfFile(file, {
    severity: 'error',
    code: 'file-unreadable',
    message: isOutOfFiles(code)
      ? `The file cannot be opened: too many open files (${code}). The file is not at fault.`
      : `The file cannot be read (${code}).`,
    hint: `${isOutOfFiles(code) ? MORE_FILES : 'Give the process the right to read it.'} A daemon keeps what it read from it before.`,
  })
}

/** A limit in the largest unit that fits: a whole number of MiB, or bytes. */
function sizeOf(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`
}
