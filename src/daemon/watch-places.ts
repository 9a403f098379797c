import { basename, dirname, join, relative, sep } from 'node:path'
import { watch, type FSWatcher } from 'chokidar'
import type { Clock } from '../lib/clock.ts'
import { CONFIG_MAP_LINK, type WatchPlace } from './watch-plan.ts'
import { watchTree } from './watch-tree.ts'

/** Places that are being watched. */
export interface OpenPlaces {
  /** Whether one of them went away meanwhile: what stands there now, if anything, is not watched. */
  isLost(): boolean
  /** Ends the watching; no event comes after it was called. */
  close(): Promise<void>
}

export interface OpenPlacesOptions {
  readonly places: readonly WatchPlace[]
  readonly clock: Clock
  /** Something changed, at a path when that is known; nothing says that only this did. */
  readonly onEvent: (path?: string) => void
  /** Something could not be watched. */
  readonly onError: (error: Error) => void
}

/** Begins to watch, and is fulfilled when every change from now on is seen, or 30 s have passed. */
export type OpenWatch = (options: OpenPlacesOptions) => Promise<OpenPlaces>

const READY_LIMIT_MS = 30_000
const CLOSE_LIMIT_MS = 5_000

/** Watches, links not followed: whole trees by their directories, single levels with chokidar. */
export async function openPlaces(options: OpenPlacesOptions): Promise<OpenPlaces> {
  const { places, clock } = options
  const opening = Promise.all(
    places.map((place) => (place.shows === 'tree' ? openTree(place, options) : openLevel(place, options))),
  )
  const opened: OpenPlaces[] = []
  const allOpen = (async () => void opened.push(...(await opening)))()
  await within(READY_LIMIT_MS, clock, allOpen)
  return {
    isLost: () => opened.some((place) => place.isLost()),
    async close() {
      await within(
        CLOSE_LIMIT_MS,
        clock,
        opening.then((all) => Promise.allSettled(all.map((one) => one.close()))),
      )
    },
  }
}

async function openTree(place: WatchPlace, { onEvent, onError }: OpenPlacesOptions): Promise<OpenPlaces> {
  const tree = await watchTree({
    dir: place.dir,
    ignores: (path) => isIgnored(place, path),
    onEvent,
    onError,
  })
  return {
    isLost: () => tree.isLost(),
    async close() {
      tree.close()
    },
  }
}

async function openLevel(place: WatchPlace, { onEvent, onError }: OpenPlacesOptions): Promise<OpenPlaces> {
  const watcher = startLevel(place, onEvent)
  await new Promise<void>((resolve) => {
    watcher.on('ready', () => resolve())
    watcher.on('error', (error) => {
      onError(error instanceof Error ? error : new Error('the watcher failed', { cause: error }))
      resolve()
    })
  })
  // chokidar itself looks for a directory that comes back
  return { isLost: () => false, close: () => watcher.close() }
}

function startLevel(place: WatchPlace, onEvent: () => void): FSWatcher {
  const watcher = watch(place.dir, {
    depth: 0,
    ignored: (path) => isIgnored(place, path),
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true, // what cannot be read becomes a finding when the directory is read
    atomic: false, // an unlink and an add are two nudges, and nudges are put together anyway
  })
  watcher.on('all', () => onEvent())
  // What the kernel said, before chokidar makes sense of it: a directory that is replaced by a link between two
  // of its looks makes no sense to it, and it says nothing. For a nudge there is no need to know what happened.
  watcher.on('raw', (_event, name, details) => {
    const dir = watchedPath(details)
    if (dir === undefined || !isIgnored(place, join(dir, name ?? ''))) onEvent()
  })
  return watcher
}

function watchedPath(details: unknown): string | undefined {
  if (typeof details !== 'object' || details === null || !('watchedPath' in details)) return undefined
  return typeof details.watchedPath === 'string' ? details.watchedPath : undefined
}

/** Whether a path inside a place is none of our business. Names above the place, hidden ones included, do not count. */
export function isIgnored(place: WatchPlace, path: string): boolean {
  const inside = relative(place.dir, path)
  if (inside === '') return false
  if (place.shows === 'named') return dirname(path) !== place.dir || !place.names.includes(basename(path))
  if (place.shows === 'entries' && inside === CONFIG_MAP_LINK) return false
  return inside.split(sep).some((name) => name.startsWith('.'))
}

async function within(limitMs: number, clock: Clock, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(limitMs, resolve)
  await Promise.race([work, promise])
  cancel()
}
