import type { Key, Kind } from '../kinds/key.ts'
import { nextCatalog } from './catalog.ts'
import type { CatalogState } from './catalog-state.ts'
import { fingerprintOf } from './fingerprint.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Limits } from './limits.ts'
import type { ParsedFile } from './parse-file.ts'
import type { SecretFile } from './platform-secrets.ts'
import { readDirectory } from './read-directory.ts'

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
}

/** A directory of manifests, and what it said last. */
export interface Source {
  /**
   * Reads the directory once. Calls wait for each other.
   * @param known keys in the ledger, each with the file where it was last seen
   * @throws the signal's reason; whatever is wrong with the directory is in the catalog
   */
  load(
    known: ReadonlyMap<Key, string | undefined>,
    options: { readonly accept: 'believe' | 'doubt' },
    signal: AbortSignal,
  ): Promise<LoadResult>
  /** A cheap text for a poll to compare: see {@link fingerprintOf}. */
  fingerprintRoot(): Promise<string>
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
  let files: ReadonlyMap<string, ParsedFile> = new Map()
  let state: CatalogState | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function loadNow(...[known, { accept }, signal]: Parameters<Source['load']>): Promise<LoadResult> {
    const reading = await readDirectory({ root, limits: bounds, previous: files, signal })
    const previous = state
    const next = nextCatalog({
      previous,
      reading,
      known,
      accept,
      ...(ownSecrets === undefined ? {} : { ownSecrets }),
    })
    if (reading.problem === undefined) files = reading.files
    state = next
    return {
      state: next,
      changed: changedKeys(previous, next),
      counts: next.counts,
      differs: isDifferent(previous, next),
      parsed: reading.parsed,
    }
  }

  return {
    load(known, options, signal) {
      const result = last.then(() => loadNow(known, options, signal))
      last = result.catch(() => undefined)
      return result
    },
    fingerprintRoot: () => fingerprintOf(root),
  }
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
