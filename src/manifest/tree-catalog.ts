import type { Catalog, Recorded } from '../contract/catalog.ts'
import type { PlanRequest } from '../contract/plan.ts'
import type { Profile } from '../kinds/profile.ts'
import type { Key } from '../kinds/key.ts'
import { sha256 } from '../lib/digest.ts'
import { catalogSteps } from './catalog/next-catalog.ts'
import type { CatalogState } from './catalog/deletion-grace.ts'
import { compareTexts } from './diagnostics/diagnostic.ts'
import { createReadingBudget } from './files/reading-budget.ts'
import { createSlices, inSlices } from './validate/slices.ts'
import { createPlaces } from './rules/source-locator.ts'
import { parseInSlices, type ParsedFile } from './validate/parse-file.ts'
import { createFindingRoom } from './validate/parse-options.ts'
import { DEFAULT_LIMITS as limits } from './yaml/limits.ts'

/** Readings that must agree before a key counts as removed. */
const READINGS = 3

interface Known {
  readonly profile: Profile
  /** Keys in the ledger. */
  readonly recorded: ReadonlyMap<Key, Recorded>
  /** The catalog in force, whose owners keep their keys and ids. */
  readonly before: Catalog | undefined
  /** Keys that were created or applied. */
  readonly created: ReadonlySet<Key>
  readonly signal: AbortSignal
}

function inOrder([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return compareTexts(one, other)
}

/** The catalog of the texts that a client sent, by the rules of a directory. @throws the signal's reason */
export async function catalogOfTexts(
  { revision, files }: Pick<PlanRequest, 'revision' | 'files'>,
  known: Known,
): Promise<Catalog> {
  const { profile, signal } = known
  const parsed = new Map<string, ParsedFile>()
  const slices = createSlices()
  const room = createFindingRoom()
  const budget = createReadingBudget(limits)
  for (const [file, text] of Object.entries(files).toSorted(inOrder)) {
    signal.throwIfAborted()
    const bytes = Buffer.from(text)
    if (!budget.hasRoomFor(file, bytes.length)) continue
    const content = { file, hash: sha256(bytes), bytes }
    const one = await parseInSlices(content, { profile, limits, room }, slices)
    budget.add(one, bytes.length)
    parsed.set(file, one)
    if (slices.isOver()) await slices.next()
  }
  const reading = {
    revision,
    files: parsed,
    findings: budget.findings(),
    unread: budget.left,
    problem: undefined,
    parsed: parsed.size,
  }
  const places = createPlaces((file) => files[file])
  let state: CatalogState | undefined
  for (let count = 0; count < READINGS; count += 1) {
    const steps = catalogSteps({ ...known, previous: state, reading, places, accept: 'normal' })
    state = await inSlices(steps, slices)
    signal.throwIfAborted()
    if (state.pending.size === 0 || state.catalog.problem !== undefined) break
  }
  if (state === undefined) throw new Error('there is at least one reading')
  return state.catalog
}
