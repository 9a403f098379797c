import { once } from 'node:events'
import { lstat, readlink, stat, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { watch } from 'chokidar'
import { lstatSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { createSlices } from '../manifest/validate/slices.ts'
import { DEFAULT_LIMITS } from '../manifest/yaml/limits.ts'
import { fileErrorCode } from '../manifest/files/read-bytes.ts'
import { commitOf } from '../manifest/files/commit.ts'
import { walkTree } from '../manifest/files/walk.ts'

type WatchPaths = Awaited<ReturnType<typeof watchPathsOf>>

/** git-sync names a tree by commit (`<sha>`, `rev-<sha>`), Kubernetes by time (`..2026_01_01`). */
const PUBLISHED = /^(?:(?:rev-)?[0-9a-f]{40}(?:[0-9a-f]{24})?|\.\..+)$/
/** ms for chokidar to start, and to close. */
const LIMIT_MS = 15_000

/**
 * Finds the folders to watch. For a link: its target, and its parent, which alone shows that the link was replaced. A
 * tree that git-sync or Kubernetes published never changes, so it is left out. Never rejects.
 */
export async function watchPathsOf(root: string) {
  const names = new Set<string>()
  let reached = resolve(root)
  let isThere = true
  let isPublished = false
  while (isThere) {
    const step = await firstNonFolder(reached)
    if (step === undefined) break
    isThere = step.target !== '' && !names.has(step.path) // a repeated link is a cycle
    isPublished ||= step.target.split(sep).some((name) => PUBLISHED.test(name))
    names.add(step.path)
    reached = resolve(dirname(step.path), step.target, relative(step.path, reached))
  }
  const what = names.size === 0 ? 'everything below' : 'the links that lead to the manifests, in'
  const swapped = await firstNonFolder(join(reached, '..data')) // Kubernetes swaps this link in a ConfigMap
  if (isThere && swapped !== undefined && swapped.target !== '') names.add(swapped.path)
  const tree = isThere && !isPublished ? reached : undefined
  const folders = new Set([...names].map((name) => dirname(name)).concat(tree ?? []))
  const where = [...folders].join(', ')
  const identities = [...folders].map(async (folder) => {
    const stats = await stat(folder).catch(() => undefined)
    return `${stats?.dev}:${stats?.ino}:${stats?.birthtimeMs}` // birth times, because inodes are reused
  })
  return {
    /** Links on the path to the root, or the first missing name on that path. */
    names,
    /** Folder watched at any depth, except names with a leading dot. */
    tree,
    /** Parents of `names`, and `tree` itself. */
    folders,
    /** `recursive`: a plain tree. `parent`: the path has a link or a missing name. */
    mode: names.size === 0 ? ('recursive' as const) : ('parent' as const),
    message: isThere
      ? `watching ${what} ${where}`
      : `waiting in ${where} for the manifests directory to appear`,
    /** Differs if the watched folders changed or were replaced. */
    signature: JSON.stringify([[...names], tree, await Promise.all(identities)]),
  }
}

/** @returns the first part of `way` that is not a folder, with its target if it is a link */
async function firstNonFolder(way: string) {
  for (let end = way.indexOf(sep, 1); ; end = way.indexOf(sep, end + 1)) {
    const path = end < 0 ? way : way.slice(0, end)
    const stats = await lstat(path).catch(() => undefined)
    const target = stats?.isSymbolicLink() === true ? await readlink(path).catch(() => '') : ''
    if (stats?.isDirectory() !== true) return { path, target }
    if (end < 0) return undefined
  }
}

/** Whether an event at `path` might be a change of the manifests. Hidden names below the tree are ignored. */
export function concerns({ names, tree, folders }: WatchPaths, path: string): boolean {
  const inside = tree === undefined ? '..' : relative(tree, path)
  return names.has(path) || folders.has(path) || !inside.split(sep).some((name) => name.startsWith('.'))
}

/** Resolves when chokidar hears every change, or after 15 s. @returns function that stops listening */
export async function listenTo(paths: WatchPaths, onEvent: (error?: unknown) => void) {
  const watcher = watch([...paths.folders], {
    // Files need no watch, because the watch of their folder covers them.
    ignored: (path, stats) => stats?.isFile() === true || !concerns(paths, path),
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true, // reading the directory reports it as a finding
    atomic: false, // the debounce merges events
  })
  watcher.on('error', onEvent)
  watcher.on('all', () => onEvent())
  // Raw kernel events also count, because only the time of a change matters.
  watcher.on('raw', (_event, name, details) => {
    const { watchedPath } = details as { readonly watchedPath: string } // chokidar leaves it open
    if (concerns(paths, join(watchedPath, name ?? ''))) onEvent()
  })
  await once(watcher, 'ready', { signal: AbortSignal.timeout(LIMIT_MS) }).catch(() => undefined) // `onEvent` gets errors
  return () => Promise.race([watcher.close(), setTimeout(LIMIT_MS, undefined, { ref: false })])
}

/**
 * @returns a digest of inode, size and times of all files, and the commit; or why the root is unreadable
 * @throws the signal's reason
 */
export async function statWalk(root: string, signal: AbortSignal): Promise<string> {
  try {
    const resolved = await realpath(root)
    const tree = await walkTree(resolved, DEFAULT_LIMITS, signal)
    const digest = createHash('sha256').update(JSON.stringify([resolved, tree.unread, [...tree.links]]))
    const slices = createSlices()
    for (const { file, path } of tree.files) {
      await slices.pause()
      signal.throwIfAborted()
      digest.update(`${file}\0${path}\0${stampOf(path)}\n`)
    }
    return `${digest.digest('hex')} ${(await commitOf(resolved))?.id}`
  } catch (error) {
    signal.throwIfAborted()
    return `unreadable: ${fileErrorCode(error)}`
  }
}

function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = lstatSync(path)
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch (error) {
    return fileErrorCode(error)
  }
}
