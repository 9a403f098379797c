import { join } from 'node:path'
import type { Entry } from '../kinds/catalog.ts'
import type { Key, Kind } from '../kinds/key.ts'
import { sha256 } from '../lib/digest.ts'
import { nextCatalog } from './catalog.ts'
import type { CatalogInput } from './catalog.ts'
import type { CatalogState } from './catalog-state.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Limits } from './limits.ts'
import { textIn } from './parse-file.ts'
import { patchCatalog } from './patch.ts'
import type { Patch } from './patch.ts'
import { createPlaces } from './places.ts'
import type { SecretFile } from './platform-secrets.ts'
import { readBytes } from './read-bytes.ts'
import { readDirectory } from './read-directory.ts'
import type { DirectoryReading } from './read-directory.ts'
import { readTouched } from './read-touched.ts'

/** What one more reading brought. */
export interface LoadResult {
  readonly state: CatalogState
  /** Keys whose digest changed, that appeared, or that became gone; in order. */
  readonly changed: readonly Key[]
  /** Documents of each kind. */
  readonly counts: Readonly<Record<Kind, number>>
  /** Whether anything differs from the reading before, findings and places included. */
  readonly differs: boolean
  /** Files that were parsed, because their bytes were new. */
  readonly parsed: number
  /** Whether only what events named was read; a whole reading should follow. */
  readonly partial: boolean
  /**
   * The entries that took the place of others, when nothing else in the catalog is new: no key, no Lock, no reference
   * from one manifest to another. Undefined when more is, or may be.
   */
  readonly replaced: readonly Entry[] | undefined
}

/** A directory of manifests, and what it said last. */
export interface Source {
  /**
   * Reads the directory once. Calls wait for each other.
   * @param known keys in the ledger, each with the file where it was last seen
   * @param options.touched paths, without links, where something happened since the last reading. When nothing else is in
   *   doubt, only they are read, and all else is taken to be as it was: quick, and to be followed by a whole reading.
   * @throws the signal's reason; whatever is wrong with the directory is in the catalog
   */
  load(
    known: ReadonlyMap<Key, string | undefined>,
    options: {
      readonly accept: 'believe' | 'doubt'
      readonly touched?: ReadonlySet<string> | 'anything'
      /** `bytes`: opens each file, also one that the file system says was not written to. Unless set, `stamps`. */
      readonly trust?: 'bytes' | 'stamps'
    },
    signal: AbortSignal,
  ): Promise<LoadResult>
}

export interface SourceOptions {
  /** The manifests directory, or a single file. */
  readonly root: string
  readonly limits?: Partial<Limits>
  /** Files of mounted secrets that Pipewright itself signs in with; the token for alerts, unless said otherwise. */
  readonly ownSecrets?: readonly SecretFile[]
}

export function createSource({ root, limits, ownSecrets }: SourceOptions): Source {
  const bounds: Limits = { ...DEFAULT_LIMITS, ...limits }
  let last: DirectoryReading | undefined
  let state: CatalogState | undefined
  let running: Promise<unknown> = Promise.resolve()
  const placeOf = createPlaces((file) => last && textNow(last, file, bounds))

  async function loadNow(
    ...[known, { accept, touched = 'anything', trust = 'stamps' }, signal]: Parameters<Source['load']>
  ): Promise<LoadResult> {
    const previous = state
    const quick =
      touched === 'anything' || last === undefined || isDoubtful(previous)
        ? undefined
        : await readTouched({ root, limits: bounds, last, touched })
    const reading = quick ?? (await readDirectory({ root, limits: bounds, previous: last, trust, signal }))
    const input: CatalogInput = {
      previous,
      reading,
      known,
      placeOf,
      accept,
      ...(ownSecrets === undefined ? {} : { ownSecrets }),
    }
    const patch = last === undefined ? undefined : patchCatalog(input, last)
    if (reading.problem === undefined) last = reading
    else if (last !== undefined) last = { ...last, problem: reading.problem }
    const next = patch?.state ?? nextCatalog(input)
    state = next
    return {
      state: next,
      ...(patch === undefined ? compared(previous, next) : replacements(previous, patch)),
      counts: next.counts,
      parsed: reading.parsed,
      partial: quick !== undefined,
    }
  }

  return {
    load(known, options, signal) {
      const result = running.then(() => loadNow(known, options, signal))
      running = result.catch(() => undefined)
      return result
    },
  }
}

/** Absences are counted by whole readings only, and what is not believed is read as a whole. */
function isDoubtful(state: CatalogState | undefined): boolean {
  return state === undefined || state.pending.size > 0 || state.catalog.problem !== undefined
}

type Comparison = Pick<LoadResult, 'changed' | 'differs' | 'replaced'>

function compared(previous: CatalogState | undefined, next: CatalogState): Comparison {
  return { changed: changedKeys(previous, next), differs: isDifferent(previous, next), replaced: undefined }
}

function replacements(previous: CatalogState | undefined, { state, entries }: Patch): Comparison {
  const [before, after] = [previous?.catalog, state.catalog]
  const changed = entries.filter(({ key, digest }) => before?.entries.get(key)?.digest !== digest)
  const differs =
    before?.revision.id !== after.revision.id ||
    entries.some((entry) => isOther(before.entries.get(entry.key), entry)) ||
    isOther(before.findings, after.findings)
  return { changed: changed.map(({ key }) => key).toSorted(), differs, replaced: entries }
}

/** The text of a file as it was read; undefined when it is another one by now, or none. */
function textNow({ folder, files }: DirectoryReading, file: string, limits: Limits): string | undefined {
  const reading = readBytes(join(folder, file), Buffer.allocUnsafe(limits.fileBytes + 1))
  if (reading.what !== 'read' || sha256(reading.bytes) !== files.get(file)?.hash) return undefined
  return textIn(reading.bytes)
}

function changedKeys(previous: CatalogState | undefined, next: CatalogState): readonly Key[] {
  const before = previous?.catalog
  const changed = new Set<Key>()
  for (const [key, entry] of next.catalog.entries) {
    if (before?.entries.get(key)?.digest !== entry.digest) changed.add(key)
  }
  for (const key of next.catalog.gone) if (before?.gone.has(key) !== true) changed.add(key)
  return [...changed].toSorted()
}

function isDifferent(previous: CatalogState | undefined, next: CatalogState): boolean {
  if (previous === undefined) return true
  const [a, b] = [previous.catalog, next.catalog]
  if (a.revision.id !== b.revision.id || a.problem?.reason !== b.problem?.reason) return true
  if (a.entries.size !== b.entries.size || a.gone.size !== b.gone.size) return true
  if ([...b.entries].some(([key, entry]) => isOther(a.entries.get(key), entry))) return true
  return textOf(a.findings) !== textOf(b.findings) || textOf([...a.locks]) !== textOf([...b.locks])
}

function isOther<T>(a: T, b: T): boolean {
  return a !== b && textOf(a) !== textOf(b)
}

function textOf(value: unknown): string {
  return JSON.stringify(value)
}
