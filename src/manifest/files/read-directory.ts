import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Catalog, SourceProblem, Revision } from '../../contract/catalog.ts'
import type { Finding } from '../../kinds/finding.ts'
import { sleep, type Clock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/digest.ts'
import { createFileParser } from './file-parser.ts'
import { findingOfFile } from '../diagnostics/diagnostic.ts'
import type { Profile } from '../../kinds/profile.ts'
import type { Limits } from '../yaml/limits.ts'
import { textIn, type FileContent, type ParsedFile } from '../validate/parse-file.ts'
import { MORE_FILES, isOutOfFiles } from '../../lib/files.ts'
import { fileErrorCode, readBytes, isUntouched, type Stamp } from './read-bytes.ts'
import { commitOf, contentRevision, revisionSince } from './commit.ts'
import { IgnoreFileError } from './ignore-file.ts'
import { notRegular, unreadableFinding, walkTree, type FoundFile, type Tree } from './walk.ts'

export interface Reading extends Pick<Catalog, 'revision' | 'findings' | 'problem'> {
  /** Sorted by path below the root. Empty if `problem` is set. */
  readonly files: ReadonlyMap<string, ParsedFile>
  /** Unreadable files and folders. A folder ends with `/`. The empty text means any path. */
  readonly unread: readonly string[]
}

export interface DirectoryReading extends Reading {
  /** The root, or its parent folder if the root is a file. */
  readonly folder: string
  readonly stamps: ReadonlyMap<string, Stamp>
  readonly ignoreFile: Tree['ignoreFile']
}

export interface TreeOptions {
  readonly root: string
  readonly profile: Profile
  readonly limits: Limits
  /** The last reading. Files unchanged since then are not parsed again. */
  readonly previous: Pick<DirectoryReading, 'files' | 'stamps' | 'ignoreFile'> | undefined
  /** `stamps`: a file with unchanged metadata ({@link Stamp}) is not opened. `bytes`: each file is opened. */
  readonly trust: 'bytes' | 'stamps'
  /** Clock for the pause before a second reading. If undefined, there is no second reading. */
  readonly clock?: Clock | undefined
  readonly onRead?: (done: number, of: number) => void
  readonly signal: AbortSignal
}

const TRIES = 5

/** Ms to wait after an attempt, multiplied by the number of attempts so far. */
const PAUSE = 40

/** Ms between two readings that must agree, because a file was just written. */
const BETWEEN_READINGS = 500

/**
 * Reads the directory as one state. Starts over if a link changed its target, a file vanished or
 * is still being written.
 * @throws the signal's reason. Other failures are findings, or the reading's `problem`.
 */
export async function readDirectory(options: TreeOptions): Promise<DirectoryReading> {
  let { previous } = options
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    options.signal.throwIfAborted()
    const reading = await tryToRead({ ...options, previous }, attempt === TRIES)
    if (reading === undefined) {
      await setTimeout(PAUSE * attempt, undefined, { signal: options.signal }).catch(() => undefined)
      continue
    }
    const unsettled = await unsettledIn(reading, { ...options, previous }, attempt > 1)
    if (unsettled.length === 0) return reading
    if (attempt === TRIES && unsettled !== 'tree') return withoutFiles(reading, unsettled)
    previous = reading
  }
  return failed({
    reason: 'SourceUnstable',
    message: `The manifests directory changed during each of ${TRIES} reads. Stop the program that keeps changing it.`,
    unfound: new Set(),
  })
}

/**
 * Git writes file by file, so a reading can see half a checkout. If a file was just written, reads again,
 * unless git-sync or Kubernetes replaces the whole directory at once.
 * @returns files that changed between both readings, or `tree` if files came or went
 */
async function unsettledIn(
  reading: DirectoryReading,
  options: TreeOptions,
  isRetry: boolean,
): Promise<readonly string[] | 'tree'> {
  const { root, previous, clock, signal } = options
  const { files, stamps, ignoreFile, revision, problem } = reading
  if (clock === undefined || problem !== undefined) return []
  if ((await revisionSince(root, revision)) !== undefined) return []
  // Compares hashes if possible, because a wrong clock makes a new file look old.
  const isNews = ({ file, hash }: ParsedFile) =>
    previous === undefined ? !stamps.has(file) : previous.files.get(file)?.hash !== hash
  const isRuled = ignoreFile?.stamp === undefined && ignoreFile?.hash !== previous?.ignoreFile?.hash
  if (!isRetry && !isRuled && ![...files.values()].some(isNews)) return []
  await sleep(clock, BETWEEN_READINGS, signal)
  const now = await tryToRead({ ...options, previous: reading, trust: 'stamps' }, false)
  if (now === undefined || namesIn(now) !== namesIn(reading)) return 'tree'
  return [...files.keys()].filter((file) => now.files.get(file)?.hash !== files.get(file)?.hash)
}

function namesIn({ files, unread, ignoreFile }: DirectoryReading): string {
  return [...files.keys(), ...unread]
    .toSorted()
    .concat(ignoreFile?.hash ?? '')
    .join('\n')
}

/** The reading without these files. Their manifests keep the earlier content. */
function withoutFiles(reading: DirectoryReading, unsettled: readonly string[]): DirectoryReading {
  const said = unsettled.map((file) =>
    findingOfFile(file, {
      severity: 'error',
      code: 'file-unreadable',
      message: `The file changed during each of ${TRIES} reads.`,
      hint: 'Let the program that changes the file write a temporary file, then rename it. A daemon keeps using the earlier content of the file.',
    }),
  )
  const left = [...reading.files].filter(([file]) => !unsettled.includes(file))
  const [findings, unread] = [reading.findings.concat(said), reading.unread.concat(unsettled)]
  return { ...reading, files: new Map(left), findings, unread }
}

/** Text of a file that was read. Undefined: the file is gone or its bytes changed. */
export function textNow(
  { folder, files }: DirectoryReading,
  file: string,
  { fileBytes }: Limits,
): string | undefined {
  const reading = readBytes(join(folder, file), fileBytes)
  if (reading.what !== 'read' || sha256(reading.bytes) !== files.get(file)?.hash) return undefined
  return textIn(reading.bytes)
}

async function tryToRead(options: TreeOptions, isLast: boolean): Promise<DirectoryReading | undefined> {
  let root: string
  let tree: Tree
  try {
    root = await realpath(options.root)
    tree = await walkTree(root, options.limits, options.signal)
  } catch (error) {
    options.signal.throwIfAborted()
    const isMissing = isLast && !existsSync(options.root)
    return fileErrorCode(error) === 'ENOENT' && !isMissing ? undefined : unreadable(error, options.root)
  }
  const before = await commitOf(root)
  const { contents, parser } = await readAll(tree.files, options)
  if (tree.vanished || contents.includes('vanished')) return undefined
  const files = new Map<string, ParsedFile>()
  const stamps = new Map<string, Stamp>()
  const findings = [...tree.findings, ...parser.findings()]
  const unread = [...tree.unread, ...parser.left]
  for (const content of contents) {
    if (content === 'vanished') continue
    if ('finding' in content) {
      findings.push(content.finding)
      unread.push(content.finding.file)
      continue
    }
    files.set(content.parsed.file, content.parsed)
    if (content.stamp !== undefined) stamps.set(content.parsed.file, content.stamp)
  }
  if (!(await isSameStill(options.root, root, tree, before))) return undefined
  return {
    folder: tree.ignoreFile === undefined ? dirname(root) : root,
    stamps,
    ignoreFile: tree.ignoreFile,
    revision: before ?? contentRevision([...files.values()]),
    files,
    findings,
    unread,
    problem: undefined,
  }
}

type Content =
  | 'vanished'
  | { readonly finding: Finding }
  | { readonly parsed: ParsedFile; readonly stamp: Stamp | undefined }

/** Stops at a vanished file. Known files come first, because new files must not use up the limits. */
async function readAll(
  files: readonly FoundFile[],
  options: TreeOptions,
): Promise<{ readonly contents: readonly Content[]; readonly parser: ReturnType<typeof createFileParser> }> {
  const contents = new Map<FoundFile, Content>()
  const parser = createFileParser(options)
  let done = 0
  for (const found of knownFirst(files, options.previous)) {
    const content = readOne(found, options)
    if (typeof content === 'object' && 'content' in content) {
      const parsed = await parser.parse(content.content)
      if (parsed !== undefined) contents.set(found, { parsed, stamp: content.stamp })
    } else {
      contents.set(found, content)
      if (content === 'vanished') break
      if ('parsed' in content) parser.add(content.parsed, content.stamp?.size ?? 0)
    }
    done += 1
    options.onRead?.(done, files.length)
    await parser.pause()
  }
  return { contents: files.flatMap((found) => contents.get(found) ?? []), parser }
}

function knownFirst(files: readonly FoundFile[], previous: TreeOptions['previous']): readonly FoundFile[] {
  const fresh = files.filter(({ file }) => previous?.files.has(file) !== true)
  return fresh.length === 0 ? files : [...new Set(files).difference(new Set(fresh)), ...fresh]
}

function readOne(
  { file, path }: FoundFile,
  { limits, previous, trust }: TreeOptions,
): Content | { readonly content: FileContent; readonly stamp: Stamp | undefined } {
  const known = previous?.files.get(file)
  const before = trust === 'stamps' ? previous?.stamps.get(file) : undefined
  if (known !== undefined && before !== undefined && isUntouched(path, before)) {
    return { parsed: known, stamp: before }
  }
  const reading = readBytes(path, limits.fileBytes)
  if (reading.what === 'vanished') return 'vanished'
  if (reading.what === 'not-regular') return { finding: notRegular(file) }
  if (reading.what === 'too-large') return { finding: tooLarge(file, limits) }
  if (reading.what === 'unreadable') return { finding: unreadableFinding(file, 'file', reading.error) }
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

function unreadable(error: unknown, root: string): DirectoryReading {
  if (error instanceof IgnoreFileError) {
    return failed({ reason: 'SourceUnreadable', message: error.message, unfound: 'all' })
  }
  const code = fileErrorCode(error)
  const why = code === 'ENOENT' ? 'is missing' : `cannot be listed (${code})`
  const hint = isOutOfFiles(code)
    ? `The process has no free file descriptor. ${MORE_FILES}`
    : `${code === 'ENOENT' ? 'Create it' : 'Make it readable'}, or correct --manifests.`
  return failed({
    reason: 'SourceUnreadable',
    message: `The manifests directory ${why}: ${resolve(root)}. ${hint}`,
    unfound: 'all',
  })
}

function failed(problem: SourceProblem): DirectoryReading {
  return {
    folder: '',
    stamps: new Map(),
    ignoreFile: undefined,
    revision: contentRevision([]),
    files: new Map(),
    findings: [],
    unread: [''],
    problem,
  }
}

function tooLarge(file: string, limits: Limits): Finding {
  return findingOfFile(file, {
    severity: 'error',
    code: 'file-too-large',
    message: `The file is larger than ${sizeOf(limits.fileBytes)}.`,
    hint: 'Split the file into several. A daemon keeps using the earlier content of the file.',
  })
}

function sizeOf(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`
}
