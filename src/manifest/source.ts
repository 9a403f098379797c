import { join } from 'node:path'
import type { Recorded } from '../contract/catalog.ts'
import type { Profile } from '../kinds/profile.ts'
import type { Key } from '../kinds/key.ts'
import { sha256 } from '../lib/digest.ts'
import { catalogSteps } from './catalog/next-catalog.ts'
import type { CatalogState } from './catalog/deletion-grace.ts'
import { DEFAULT_LIMITS, type Limits } from './yaml/limits.ts'
import { textIn } from './validate/parse-file.ts'
import { createPlaces, type KnownPlaces } from './rules/source-locator.ts'
import { readBytes } from './files/read-bytes.ts'
import { revisionSince } from './files/revision-since.ts'
import { createSlices, inSlices } from './validate/slices.ts'
import { readDirectory, type DirectoryReading, type OnRead } from './files/read-directory.ts'

/** What one more reading brought. */
export interface LoadResult {
  readonly state: CatalogState
  /** Keys whose digest changed, that appeared, or that were deleted; in order. */
  readonly changed: readonly Key[]
  /** Documents of each kind. */
  readonly counts: Readonly<Record<string, number>>
  /** Whether anything differs from the reading before, findings and places included. */
  readonly differs: boolean
  /** Files that were parsed, because their bytes were new. */
  readonly parsed: number
  /** When git-sync or Kubernetes swapped the link to its revision: ms since the epoch. Undefined without such a link. */
  readonly since: number | undefined
}

/** A directory of manifests, and what it said last. */
export interface Source {
  /**
   * Reads the directory once. Calls wait for each other.
   * @param recorded keys in the ledger
   * @throws the signal's reason; whatever is wrong with the directory is in the catalog
   */
  load(
    recorded: ReadonlyMap<Key, Recorded>,
    options: {
      readonly accept: 'force' | 'normal'
      /** Keys of which something was created or applied: losing most of these at once is not accepted. Unset: all keys. */
      readonly created?: ReadonlySet<Key>
      /** `bytes`: opens each file, also one that the file system says was not written to. Unless set, `stamps`. */
      readonly trust?: 'bytes' | 'stamps'
    },
    signal: AbortSignal,
  ): Promise<LoadResult>
}

export interface SourceOptions {
  readonly profile: Profile
  /** The manifests directory, or a single file. */
  readonly root: string
  readonly limits?: Partial<Limits>
  /** For who waits for a reading. */
  readonly onRead?: OnRead
}

export function createSource({ profile, root, limits, onRead }: SourceOptions): Source {
  const bounds: Limits = { ...DEFAULT_LIMITS, ...limits }
  let last: DirectoryReading | undefined
  let state: CatalogState | undefined
  let running: Promise<unknown> = Promise.resolve()
  const places: KnownPlaces = new WeakMap()

  async function loadNow(
    ...[recorded, { accept, created, trust = 'stamps' }, signal]: Parameters<Source['load']>
  ): Promise<LoadResult> {
    const previous = state
    const reading = await readDirectory({
      profile,
      root,
      limits: bounds,
      previous: last,
      trust,
      signal,
      ...(onRead && { onRead }),
    })
    if (reading.problem === undefined) last = reading
    const buffer = Buffer.allocUnsafe(bounds.fileBytes + 1)
    const steps = catalogSteps({
      previous,
      reading,
      recorded,
      places: createPlaces((file) => last && textNow(last, file, buffer), places),
      accept,
      created,
    })
    const next = await inSlices(steps, createSlices())
    signal.throwIfAborted()
    state = next
    return {
      state: next,
      changed: changedKeys(previous, next),
      differs: isDifferent(previous, next),
      counts: next.counts,
      parsed: reading.parsed,
      since: await revisionSince(root, next.catalog.revision),
    }
  }

  return {
    load(recorded, options, signal) {
      const result = running.then(() => loadNow(recorded, options, signal))
      running = result.catch(() => undefined)
      return result
    },
  }
}

/** The text of a file as it was read; undefined when it is another one by now, or none. */
export function textNow(
  { folder, files }: DirectoryReading,
  file: string,
  buffer: Buffer,
): string | undefined {
  const reading = readBytes(join(folder, file), buffer)
  if (reading.what !== 'read' || sha256(reading.bytes) !== files.get(file)?.hash) return undefined
  return textIn(reading.bytes)
}

function changedKeys(previous: CatalogState | undefined, next: CatalogState): readonly Key[] {
  const before = previous?.catalog
  const changed = new Set<Key>()
  for (const [key, entry] of next.catalog.entries) {
    if (before?.entries.get(key)?.digest !== entry.digest) changed.add(key)
  }
  for (const key of next.catalog.deleted) if (before?.deleted.has(key) !== true) changed.add(key)
  return [...changed].toSorted()
}

function isDifferent(previous: CatalogState | undefined, next: CatalogState): boolean {
  if (previous === undefined) return true
  const [a, b] = [previous.catalog, next.catalog]
  if (a.revision.id !== b.revision.id || a.problem?.reason !== b.problem?.reason) return true
  if (a.entries.size !== b.entries.size || a.deleted.size !== b.deleted.size) return true
  if ([...b.entries].some(([key, entry]) => isOther(a.entries.get(key), entry))) return true
  return isOther(a.findings, b.findings) || isOther([...a.locks], [...b.locks])
}

function isOther<T>(a: T, b: T): boolean {
  return a !== b && JSON.stringify(a) !== JSON.stringify(b)
}
