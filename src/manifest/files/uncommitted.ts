import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { Revision } from '../../contract/catalog.ts'
import { withUncommitted } from '../../contract/revision.ts'
import { contentRevision, findCheckout, type HashedFile } from './commit.ts'
import { isManifestName, type Tree } from './walk.ts'

/** What Git says of the files of a reading. It is asked again when they, the commit or the index are others. */
export interface GitAnswer {
  /** What it was asked about, as a digest. */
  readonly about: string
  /** Names, as the reading has them, of files that the commit holds otherwise or not at all, and of files that are gone. */
  readonly uncommitted: ReadonlySet<string>
}

interface Question {
  /** The resolved root. */
  readonly root: string
  readonly tree: Tree
  readonly commit: Revision | undefined
  /** What was read. */
  readonly files: readonly HashedFile[]
  /** What it said last. Undefined: it is asked in any case. */
  readonly before: GitAnswer | undefined
  readonly signal: AbortSignal
}

/**
 * The manifests that differ from the commit of their checkout: edited, new, removed, or ignored by Git and read all the same.
 * None as well where Git is not installed, does not trust the checkout since it belongs to somebody else, or takes too long.
 * @returns undefined where nobody can have changed anything: without a commit, and in a tree that git-sync published
 * @throws the signal's reason
 */
export async function askGit(question: Question): Promise<GitAnswer | undefined> {
  const { root, tree, commit, files, before, signal } = question
  if (commit?.from !== 'git') return undefined
  const checkout = await findCheckout(root)
  if (checkout === undefined) return undefined
  const index = await stat(join(checkout.git, 'index')).catch(() => undefined)
  const about = `${commit.id} ${contentRevision(files).id} ${index?.ino} ${index?.size} ${index?.ctimeMs}`
  if (before?.about === about) return before
  const folder = tree.isFile ? dirname(root) : root
  const lines = await gitStatus(folder, tree.isFile ? basename(root) : '.', signal)
  signal.throwIfAborted()
  return { about, uncommitted: filesIn(lines, { folder, tree, top: checkout.top }) }
}

/** The revision of what was read: the commit, and whether it was changed since; without one, a digest. */
export function revisionOf(
  commit: Revision | undefined,
  files: readonly HashedFile[],
  git: GitAnswer | undefined,
): Revision {
  if (commit === undefined) return contentRevision(files)
  return git === undefined || git.uncommitted.size === 0
    ? commit
    : { ...commit, id: withUncommitted(commit.id) }
}

/** A line of `git status --porcelain -z`: `XY path`, from the top of the checkout; with a slash behind a folder. */
const LINE = /^(..) (.+?)\/?$/s

interface Place {
  readonly folder: string
  readonly tree: Tree
  readonly top: string
}

function filesIn(lines: readonly string[], { folder, tree, top }: Place): ReadonlySet<string> {
  const marked = new Set<string>()
  const files = new Set<string>()
  for (const line of lines) {
    const [, what = '', name = ''] = LINE.exec(line) ?? []
    const path = join(top, name)
    marked.add(path)
    // Removed, something else than a file now, or in conflict: the commit has it, whatever is read of it.
    const isGone = /[DTU]/.test(what) && !what.includes('A')
    if (isGone && isManifestName(relative(folder, path))) files.add(relative(folder, path))
  }
  for (const [link, target] of tree.links) if (marked.has(link)) marked.add(target)
  for (const { file, path } of tree.files) if (isMarked(path, top, marked)) files.add(file)
  return files
}

/** Folders are marked that are repositories of their own, or that a changed link leads to. */
function isMarked(path: string, top: string, marked: ReadonlySet<string>): boolean {
  for (let at = path; at.length > top.length; at = dirname(at)) if (marked.has(at)) return true
  return false
}

/** Milliseconds until it counts as not answering. */
const LIMIT_MS = 5_000

const MOST_BYTES = 16 * 1024 * 1024

/** Nothing that the settings of a repository name is run in the background, and nothing is fetched. */
const SAFELY = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'protocol.allow=never']

const STATUS = [
  '--porcelain',
  '-z',
  '--no-renames',
  '--untracked-files=all',
  '--ignored',
  '--ignore-submodules=dirty',
]

/** Writes nothing, and gets none of our own environment but where to find things. @returns no line when it fails */
async function gitStatus(folder: string, path: string, signal: AbortSignal): Promise<readonly string[]> {
  const settings = SAFELY.flatMap((setting) => ['-c', setting])
  const { PATH, HOME, XDG_CONFIG_HOME } = process.env
  const output = await new Promise<string>((resolve) => {
    execFile(
      'git',
      ['--literal-pathspecs', ...settings, 'status', ...STATUS, '--', path],
      {
        cwd: folder,
        env: { PATH, HOME, XDG_CONFIG_HOME, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' },
        timeout: LIMIT_MS,
        killSignal: 'SIGKILL',
        maxBuffer: MOST_BYTES,
        signal,
      },
      (error, text) => resolve(error === null ? text : ''),
    )
  }).catch(() => '')
  return output.split('\0').filter((line) => line !== '')
}
