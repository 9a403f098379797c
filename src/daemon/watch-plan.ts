import { lstat, readlink, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from 'node:path'

/** A directory to be watched, and how much of it. */
export interface WatchPlace {
  /** Without a link in it. */
  readonly dir: string
  /**
   * `tree`: everything below, but names that start with a dot.
   * `entries`: one level, names that start with a dot left out, but `..data`.
   * `named`: one level, `names` only.
   */
  readonly shows: 'tree' | 'entries' | 'named'
  readonly names: readonly string[]
}

/** Where to watch so that every change of the root shows. */
export interface WatchPlan {
  readonly places: readonly WatchPlace[]
  /** `recursive`: a plain tree. `parent`: something on the way is a link, or is missing. `none`: nothing to watch. */
  readonly mode: 'recursive' | 'parent' | 'none'
  /** One sentence, for people. */
  readonly message: string
  /** Changes when other directories are to be watched, also when one was replaced by another of the same name. */
  readonly signature: string
  /** The root without links, or an empty text while it is missing. */
  readonly resolved: string
}

/** The link that Kubernetes swaps when a ConfigMap changes. */
export const CONFIG_MAP_LINK = '..data'

/** Links that may follow one another before they count as a circle, as Linux has it. */
const MAX_LINKS = 40

/** git-sync names a tree by its commit: `.worktrees/<sha>`, `rev-<sha>`. */
const COMMIT = /^(rev-)?[0-9a-f]{40}([0-9a-f]{24})?$/

interface Walk {
  /** Names of links, by the directory that holds them. */
  readonly links: ReadonlyMap<string, ReadonlySet<string>>
  /** What lies behind the links is never written to: it is replaced as a whole. */
  readonly published: boolean
  /** Where the way ended. */
  readonly reached: string
  /** The name that is missing there; `undefined` when the root was reached. */
  readonly missing: string | undefined
}

/**
 * Reads from disk where to watch (design §7). Watching a link itself goes deaf when it is swapped, so each
 * directory on the way that holds a link is watched, one level deep. What lies behind the links is watched too,
 * unless git-sync or Kubernetes publishes it: their trees do not change, they are replaced.
 * A root that is missing is awaited in the nearest directory that is there. Never rejects.
 */
export async function planWatch(root: string): Promise<WatchPlan> {
  const walk = await walkTo(resolve(root))
  const places = await placesOf(walk)
  const identities = await Promise.all(places.map((place) => identity(place.dir)))
  return {
    places,
    ...describe(places, walk),
    signature: JSON.stringify([places, identities]),
    resolved: walk.missing === undefined ? walk.reached : '',
  }
}

/** Follows `path` name by name and notes every link on the way. */
async function walkTo(path: string): Promise<Walk> {
  const links = new Map<string, Set<string>>()
  let published = false
  let followed = 0
  let at = parse(path).root
  let ahead = names(path)
  for (let name = ahead[0]; name !== undefined; name = ahead[0]) {
    ahead = ahead.slice(1)
    if (name === '..') {
      at = dirname(at)
      continue
    }
    const step = await look(join(at, name))
    if (step.type === 'directory') {
      at = join(at, name)
      continue
    }
    if (step.type !== 'link') return { links, published, reached: at, missing: name }
    links.set(at, (links.get(at) ?? new Set()).add(name))
    followed += 1
    if (followed > MAX_LINKS) return { links, published, reached: at, missing: name }
    published ||= names(step.target).some(isPublished)
    if (isAbsolute(step.target)) at = parse(step.target).root
    ahead = [...names(step.target), ...ahead]
  }
  return { links, published, reached: at, missing: undefined }
}

function names(path: string): string[] {
  return path
    .slice(isAbsolute(path) ? parse(path).root.length : 0)
    .split(sep)
    .filter((name) => name !== '' && name !== '.')
}

function isPublished(name: string): boolean {
  return COMMIT.test(name) || (name.startsWith('..') && name.length > 2)
}

type Step =
  | { readonly type: 'directory' }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'neither' }

async function look(path: string): Promise<Step> {
  try {
    const stats = await lstat(path)
    if (stats.isSymbolicLink()) return { type: 'link', target: await readlink(path) }
    return { type: stats.isDirectory() ? 'directory' : 'neither' }
  } catch {
    return { type: 'neither' } // not there, or not ours to see: the nearest place that we can watch is what is left
  }
}

async function placesOf(walk: Walk): Promise<readonly WatchPlace[]> {
  const watched = new Map([...walk.links].map(([dir, links]) => [dir, new Set(links)]))
  if (walk.missing !== undefined) {
    watched.set(walk.reached, (watched.get(walk.reached) ?? new Set()).add(walk.missing))
  }
  const places = [...watched].map(([dir, links]) => ({
    dir,
    shows: 'named' as const,
    names: [...links].toSorted(),
  }))
  if (walk.missing !== undefined) return places
  const configMap = (await look(join(walk.reached, CONFIG_MAP_LINK))).type === 'link'
  const kept = places.filter((place) => place.dir !== walk.reached)
  if (configMap) return [...kept, { dir: walk.reached, shows: 'entries', names: [] }]
  return walk.published ? places : [...kept, { dir: walk.reached, shows: 'tree', names: [] }]
}

/** Device and inode: another directory under the same name is another one. */
async function identity(dir: string): Promise<string> {
  try {
    const { dev, ino } = await stat(dir, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return ''
  }
}

function describe(places: readonly WatchPlace[], walk: Walk): Pick<WatchPlan, 'mode' | 'message'> {
  const shown = places.map((place) => place.dir).join(', ')
  if (places.length === 0) return { mode: 'none', message: 'there is no directory to watch yet' }
  if (walk.missing !== undefined && basename(walk.missing) !== '') {
    return { mode: 'parent', message: `waiting in ${shown} for the manifests directory to appear` }
  }
  if (places.length === 1 && places[0]?.shows === 'tree') {
    return { mode: 'recursive', message: `watching everything below ${shown}` }
  }
  return { mode: 'parent', message: `watching the links that lead to the manifests, in ${shown}` }
}
