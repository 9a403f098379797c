import type { Catalog, Recorded } from '../contract/catalog.ts'
import type { FileTree } from '../contract/plan.ts'
import type { Profile } from '../kinds/profile.ts'
import type { Key } from '../kinds/key.ts'
import { sha256 } from '../lib/digest.ts'
import { catalogSteps } from './catalog/next-catalog.ts'
import type { CatalogState } from './catalog/deletion-grace.ts'
import { createReadingBudget } from './files/reading-budget.ts'
import { createSlices, inSlices } from './validate/slices.ts'
import { createPlaces } from './rules/source-locator.ts'
import { parseInSlices, textIn, type ParsedFile } from './validate/parse-file.ts'
import { createFindingRoom } from './validate/parse-options.ts'
import { DEFAULT_LIMITS, type Limits } from './yaml/limits.ts'

/** Readings that have to agree before something that was there counts as gone. */
const READINGS = 3

/**
 * The catalog of files that somebody else has read, by the rules of a directory of one's own. In slices, between which others run.
 * @param about `recorded`: keys in the ledger
 * @throws the signal's reason
 */
export async function catalogOfTree(
  { revision, findings, unread, files }: FileTree,
  about: {
    readonly profile: Profile
    readonly recorded: ReadonlyMap<Key, Recorded>
    /** What was there before: who has something there keeps it. */
    readonly before: Catalog | undefined
    /** Keys of which something was created or applied. */
    readonly created: ReadonlySet<Key>
    readonly signal: AbortSignal
    readonly limits?: Partial<Limits>
  },
): Promise<Catalog> {
  const limits: Limits = { ...DEFAULT_LIMITS, ...about.limits }
  const parsed = new Map<string, ParsedFile>()
  const texts = new Map<string, Buffer>()
  const slices = createSlices()
  const room = createFindingRoom()
  const budget = createReadingBudget(limits)
  for (const { file, bytes } of files) {
    about.signal.throwIfAborted()
    if (!budget.hasRoomFor(file, bytes.length)) continue
    const one = await parseInSlices(
      { file, hash: sha256(bytes), bytes },
      { profile: about.profile, limits, room },
      slices,
    )
    budget.add(one, bytes.length)
    parsed.set(file, one)
    texts.set(file, bytes)
    if (slices.isOver()) await slices.next()
  }
  const reading = {
    revision,
    files: parsed,
    findings: [...findings, ...budget.findings()],
    unread: [...unread, ...budget.left],
    problem: undefined,
    parsed: parsed.size,
  }
  const places = createPlaces((file) => {
    const bytes = texts.get(file)
    return bytes && textIn(bytes)
  })
  let state: CatalogState | undefined
  for (let count = 0; count < READINGS; count += 1) {
    const steps = catalogSteps({ ...about, previous: state, reading, places, accept: 'normal' })
    state = await inSlices(steps, slices)
    about.signal.throwIfAborted()
    if (state.pending.size === 0 || state.catalog.problem !== undefined) break
  }
  if (state === undefined) throw new Error('there is at least one reading')
  return state.catalog
}
