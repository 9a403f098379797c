import { type FSWatcher, watch } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'

export interface TreeWatch {
  /** Whether the directory itself is no longer watched, because it went away. */
  isLost(): boolean
  /** Nothing is heard after it was called. */
  close(): void
}

export interface TreeWatchOptions {
  /** Without a link in it. */
  readonly dir: string
  /** Whether a path below `dir` is none of our business. */
  readonly ignores: (path: string) => boolean
  /** Something happened at a path; `undefined`: anywhere. */
  readonly onEvent: (path: string | undefined) => void
  /** Something could not be watched. */
  readonly onError: (error: Error) => void
}

/**
 * Watches a directory and all below it, links not followed: one watch a directory, none a file, so that ten thousand files
 * cost no more than the folders they stand in. Fulfilled when every directory that was there is watched; one that appears
 * later is watched as soon as it is announced, and an event follows, for what happened in it before.
 */
export async function watchTree({ dir, ignores, onEvent, onError }: TreeWatchOptions): Promise<TreeWatch> {
  const watchers = new Map<string, FSWatcher>()
  let closed = false

  /** @returns whether it is watched now */
  function start(folder: string): boolean {
    try {
      const watcher = watch(folder, (type, name) => heard(folder, type, name))
      watcher.on('error', onError)
      watchers.set(folder, watcher)
      return true
    } catch (error) {
      if (!isGone(error)) onError(error instanceof Error ? error : new Error(String(error)))
      return false
    }
  }

  function heard(folder: string, type: string, name: string | null): void {
    if (closed) return
    if (name === null) return onEvent(undefined)
    const path = join(folder, name)
    if (ignores(path)) return
    onEvent(path)
    if (type !== 'rename') return
    // It came, went, or is another one now; if it is a directory, its watch is of no use any more.
    void renew(path)
    // A directory that is removed or moved away says so by its own name.
    if (name === basename(folder)) void renew(folder)
  }

  async function renew(path: string): Promise<void> {
    end(path)
    const stats = await lstat(path).catch(() => undefined)
    if (closed || stats?.isDirectory() !== true) return
    await enter(path)
    if (!closed) onEvent(path)
  }

  async function enter(folder: string): Promise<void> {
    if (closed || watchers.has(folder) || !start(folder)) return
    // After the watch has begun: what comes from now on is announced.
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !ignores(path)) await enter(path)
    }
  }

  /** Ends the watch of a directory and of all below it; of a file there is none. */
  function end(path: string): void {
    if (!watchers.has(path)) return
    for (const [folder, watcher] of watchers) {
      if (folder !== path && !folder.startsWith(path + sep)) continue
      watchers.delete(folder)
      watcher.close()
    }
  }

  await enter(dir)
  const begun = watchers.has(dir)
  return {
    isLost: () => begun && !watchers.has(dir),
    close() {
      closed = true
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

/** Gone again, or not ours to see: what cannot be read becomes a finding when the directory is read. */
function isGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'EPERM'
}
