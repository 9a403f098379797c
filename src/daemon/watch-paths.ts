import { once } from 'node:events'
import { lstat, readlink, stat, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { watch } from 'chokidar'
import { lstatSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { createSlices } from '../manifest/validate/slices.ts'
import { DEFAULT_LIMITS } from '../manifest/yaml/limits.ts'
import { codeOf } from '../manifest/files/read-bytes.ts'
import { commitOf } from '../manifest/files/commit.ts'
import { walkTree } from '../manifest/files/walk.ts'

/** What to watch so that every change of the root shows. */
export interface WatchPaths {
  /** Links on the way to the root, or a name on it that is missing. */
  readonly names: ReadonlySet<string>
  /** A folder in which everything counts, at any depth, but names that start with a dot. */
  readonly tree: string | undefined
  /** Where those names stand, and the tree. */
  readonly folders: ReadonlySet<string>
  /** `recursive`: a plain tree. `parent`: something on the way is a link, or is missing. */
  readonly mode: 'recursive' | 'parent'
  /** One sentence, for people. */
  readonly message: string
  /** Changes when other folders are to be watched, also when one was replaced by another of its name. */
  readonly signature: string
}

/** git-sync names a tree by its commit, `<sha>` or `rev-<sha>`, Kubernetes by the time, `..2026_01_01`. */
const PUBLISHED = /^(?:(?:rev-)?[0-9a-f]{40}(?:[0-9a-f]{24})?|\.\..+)$/
/** So long chokidar may take to begin, and to end. */
const LIMIT_MS = 15_000

/**
 * Reads from disk what to watch (design §7). Watching a link goes deaf when it is swapped, so the folder that holds it is
 * watched. What lies behind links is watched too, unless git-sync or Kubernetes published it: such a tree does not change, it
 * is replaced. Never rejects.
 */
export async function watchPathsOf(root: string): Promise<WatchPaths> {
  const names = new Set<string>()
  let reached = resolve(root)
  let isThere = true
  let isPublished = false
  while (isThere) {
    const step = await firstNonFolder(reached)
    if (step === undefined) break
    isThere = step.target !== '' && !names.has(step.path) // a link that comes a second time leads in a circle
    isPublished ||= step.target.split(sep).some((name) => PUBLISHED.test(name))
    names.add(step.path)
    reached = resolve(dirname(step.path), step.target, relative(step.path, reached))
  }
  const what = names.size === 0 ? 'everything below' : 'the links that lead to the manifests, in'
  const swapped = await firstNonFolder(join(reached, '..data')) // what Kubernetes swaps in a ConfigMap
  if (isThere && swapped !== undefined && swapped.target !== '') names.add(swapped.path)
  const tree = isThere && !isPublished ? reached : undefined
  const folders = new Set([...names].map((name) => dirname(name)).concat(tree ?? []))
  const where = [...folders].join(', ')
  const identities = [...folders].map(async (folder) => {
    const stats = await stat(folder).catch(() => undefined)
    return `${stats?.dev}:${stats?.ino}:${stats?.birthtimeMs}` // a new folder may get the number of the one just removed
  })
  return {
    names,
    tree,
    folders,
    mode: names.size === 0 ? 'recursive' : 'parent',
    message: isThere
      ? `watching ${what} ${where}`
      : `waiting in ${where} for the manifests directory to appear`,
    signature: JSON.stringify([[...names], tree, await Promise.all(identities)]),
  }
}

/** The first name on the way that is no folder, and where it leads if it is a link. */
async function firstNonFolder(way: string) {
  for (let end = way.indexOf(sep, 1); ; end = way.indexOf(sep, end + 1)) {
    const path = end < 0 ? way : way.slice(0, end)
    const stats = await lstat(path).catch(() => undefined)
    const target = stats?.isSymbolicLink() === true ? await readlink(path).catch(() => '') : ''
    if (stats?.isDirectory() !== true) return { path, target }
    if (end < 0) return undefined
  }
}

/** Whether what happens at a path may be a change. Names above the tree, hidden ones included, do not count. */
export function concerns({ names, tree, folders }: WatchPaths, path: string): boolean {
  const inside = tree === undefined ? '..' : relative(tree, path)
  return names.has(path) || folders.has(path) || !inside.split(sep).some((name) => name.startsWith('.'))
}

/**
 * Listens from now on. Is fulfilled when every change is heard, or 15 s have passed.
 * @param onEvent something happened, or could not be watched
 * @returns ends the listening
 */
export async function listenTo(paths: WatchPaths, onEvent: (error?: unknown) => void) {
  const watcher = watch([...paths.folders], {
    // A folder hears of its files: they need no handle of their own.
    ignored: (path, stats) => stats?.isFile() === true || !concerns(paths, path),
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true, // what cannot be read becomes a finding when the directory is read
    atomic: false, // an unlink and an add are two events, and events are put together anyway
  })
  watcher.on('error', onEvent)
  watcher.on('all', () => onEvent())
  // What the kernel said, before chokidar makes sense of it: there is no need to know what happened, only that it did.
  watcher.on('raw', (_event, name, details) => {
    const { watchedPath } = details as { readonly watchedPath: string } // its types leave it open
    if (concerns(paths, join(watchedPath, name ?? ''))) onEvent()
  })
  await once(watcher, 'ready', { signal: AbortSignal.timeout(LIMIT_MS) }).catch(() => undefined) // an error was reported
  return () => Promise.race([watcher.close(), setTimeout(LIMIT_MS, undefined, { ref: false })])
}

/**
 * Lists what a reading would read, and asks the file system about each file: 5 ms of CPU for a thousand.
 * @returns a digest and the commit, which differ when a reading may; or why nothing can be read
 * @throws the signal's reason
 */
export async function statWalk(root: string, signal: AbortSignal): Promise<string> {
  try {
    const resolved = await realpath(root)
    const tree = await walkTree(resolved, DEFAULT_LIMITS, signal)
    const digest = createHash('sha256').update(JSON.stringify([resolved, tree.unread, [...tree.links]]))
    const slices = createSlices()
    for (const { file, path } of tree.files) {
      if (slices.isOver()) await slices.next()
      signal.throwIfAborted()
      digest.update(`${file}\0${path}\0${stampOf(path)}\n`)
    }
    return `${digest.digest('hex')} ${(await commitOf(resolved))?.id}`
  } catch (error) {
    signal.throwIfAborted()
    return `unreadable: ${codeOf(error)}`
  }
}

/** What cannot be seen is something to say as well. */
function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = lstatSync(path)
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch (error) {
    return codeOf(error)
  }
}
