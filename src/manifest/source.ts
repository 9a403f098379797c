import type { Catalog, Recorded } from '../contract/catalog.ts'
import type { PlanRequest } from '../contract/plan.ts'
import type { Profile } from '../kinds/profile.ts'
import type { Key } from '../kinds/key.ts'
import { sha256 } from '../lib/digest.ts'
import { sameJson } from '../lib/json.ts'
import { catalogSteps, type CatalogInput } from './catalog/next-catalog.ts'
import { AGREEING, type CatalogState } from './catalog/deletion-grace.ts'
import { compareTexts } from './diagnostics/diagnostic.ts'
import { createFileParser } from './files/file-parser.ts'
import { DEFAULT_LIMITS, type Limits } from './yaml/limits.ts'
import type { ParsedFile } from './validate/parse-file.ts'
import { createPlaces } from './rules/source-locator.ts'
import { commitFacts, revisionSince } from './files/commit.ts'
import { createSlices, inSlices } from './validate/slices.ts'
import { readDirectory, textNow, type DirectoryReading, type TreeOptions } from './files/read-directory.ts'

export interface LoadResult {
  readonly state: CatalogState
  /** Keys that are new, deleted, or have a new digest. Sorted. */
  readonly changed: readonly Key[]
  /** Whether the catalog changed, even if only in a finding or a position. */
  readonly differs: boolean
  readonly revisionSince: number | undefined
}

export type Source = ReturnType<typeof createSource>

/** `root`: the manifests directory, or a single file. */
export function createSource(
  settings: Pick<TreeOptions, 'profile' | 'root' | 'clock' | 'onRead'> & {
    readonly limits?: Partial<Limits>
  },
) {
  const { profile, root, limits, clock, onRead } = settings
  const bounds: Limits = { ...DEFAULT_LIMITS, ...limits }
  let last: DirectoryReading | undefined
  let state: CatalogState | undefined
  const places = createPlaces((file) => last && textNow(last, file, bounds))

  /**
   * Call it again only after the last call ended.
   * @param recorded keys in the ledger
   * @throws the signal's reason. Problems of the directory are in the catalog.
   */
  async function load(
    recorded: ReadonlyMap<Key, Recorded>,
    options: {
      readonly accept: 'force' | 'normal'
      /** A reading that loses most of these keys is rejected. Default: all known keys. */
      readonly created?: ReadonlySet<Key>
      /** `bytes`: opens unchanged files, too. Default: `stamps`. */
      readonly trust?: 'bytes' | 'stamps'
    },
    signal: AbortSignal,
  ): Promise<LoadResult> {
    const { accept, created, trust = 'stamps' } = options
    const previous = state
    const reading = await readDirectory({
      profile,
      root,
      limits: bounds,
      previous: last,
      trust,
      clock,
      signal,
      ...(onRead && { onRead }),
    })
    if (reading.problem === undefined) last = reading
    const steps = catalogSteps({ previous, reading, recorded, places, accept, created })
    const next = await withCommit(await inSlices(steps, createSlices()), previous)
    signal.throwIfAborted()
    state = next
    const changed = changedKeys(previous, next)
    const before = previous && visibleFacts(previous.catalog)
    return {
      state: next,
      changed,
      differs: changed.length > 0 || before === undefined || !sameJson(before, visibleFacts(next.catalog)),
      revisionSince: await revisionSince(root, next.catalog.revision),
    }
  }

  async function withCommit(next: CatalogState, before: CatalogState | undefined): Promise<CatalogState> {
    const { revision } = next.catalog
    const known = before?.catalog.revision
    const commit = known?.id === revision.id ? known.commit : await commitFacts(root, revision.id)
    return commit === undefined
      ? next
      : { ...next, catalog: { ...next.catalog, revision: { ...revision, commit } } }
  }

  return { load }
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

function visibleFacts({ revision, problem, entries, deleted, findings, locks }: Catalog) {
  const facts = { id: revision.id, reason: problem?.reason, findings }
  return { ...facts, entries: [...entries.values()], deleted: deleted.size, locks: [...locks] }
}

export async function catalogOfTexts(
  { revision, files }: Pick<PlanRequest, 'revision' | 'files'>,
  known: Pick<CatalogInput, 'recorded' | 'before' | 'created'> & {
    readonly profile: Profile
    readonly signal: AbortSignal
  },
): Promise<Catalog> {
  const { profile, signal } = known
  const parser = createFileParser({ profile, limits: DEFAULT_LIMITS, signal })
  const parsed = new Map<string, ParsedFile>()
  for (const [file, text] of Object.entries(files).toSorted(([a], [b]) => compareTexts(a, b))) {
    const bytes = Buffer.from(text)
    const one = await parser.parse({ file, hash: sha256(bytes), bytes })
    if (one !== undefined) parsed.set(file, one)
    await parser.pause()
  }
  const reading = {
    revision,
    files: parsed,
    findings: parser.findings(),
    unread: parser.left,
    problem: undefined,
  }
  const places = createPlaces((file) => files[file])
  let state: CatalogState | undefined
  for (let count = 1; ; count += 1) {
    const steps = catalogSteps({ ...known, previous: state, reading, places, accept: 'normal' })
    state = await inSlices(steps, createSlices())
    signal.throwIfAborted()
    const isDone = state.pending.size === 0 || state.catalog.problem !== undefined
    if (isDone || count === AGREEING) return state.catalog
  }
}
