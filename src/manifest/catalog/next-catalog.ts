import { LOCK } from '../../kinds/lock/schema.ts'
import type { Catalog, Recorded, SourceProblem } from '../../contract/catalog.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import {
  AGREEING,
  deletionGraceOf,
  hiddenIn,
  type CatalogState,
  type DeletionGrace,
  hiddenLockFiles,
  lockFilesAfter,
  lockGrace,
} from './deletion-grace.ts'
import { createCrossReport, placed, placesOf } from '../rules/cross-finding.ts'
import { endpointsIn } from '../rules/service-identity.ts'
import { crossRules } from '../rules/cross-rules.ts'
import { keyHolders, newcomersAmong, type Before } from '../rules/duplicate-keys.ts'
import { shownFindings } from './shown-findings.ts'
import { entriesOf } from './entries.ts'
import { atOnce } from '../validate/slices.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import type { Places } from '../rules/source-locator.ts'
import type { Reading } from '../files/read-directory.ts'

export interface CatalogInput {
  readonly previous: CatalogState | undefined
  /** Where there is no previous one: who has something there keeps it. Counts for nothing else. */
  readonly before?: Catalog | undefined
  readonly reading: Reading
  /** Keys in the ledger. */
  readonly recorded: ReadonlyMap<Key, Recorded>
  /** Keys of which something was created or applied. Undefined: all count as that. */
  readonly created?: ReadonlySet<Key> | undefined
  readonly places: Places
  /** `force`: a person asked for this reading, and means what the directory says. */
  readonly accept: 'force' | 'normal'
}

/** The catalog after one more reading. Pure. Whatever is not known for sure stays as it was (design §2, law 3). */
export function nextCatalog(input: CatalogInput): CatalogState {
  return atOnce(catalogSteps(input))
}

/** The same in steps, between which others can run. */
export function* catalogSteps(input: CatalogInput): Generator<void, CatalogState> {
  const { reading, recorded } = input
  const previous = input.previous ?? blank(input)
  if (reading.problem !== undefined) return keep(previous, reading.problem, recorded)
  const documents = [...reading.files.values()].flatMap((file) => file.documents)
  const isHidden = hiddenIn(reading)
  const before = beforeOf(input, previous)
  const report = createCrossReport()
  const losers = keyHolders(documents, before, { isHidden, report })
  const found = new Set<Key>()
  for (const document of documents)
    if (document.key !== undefined && !losers.has(document)) found.add(document.key)
  yield
  const grace = deletionGraceOf({ ...input, previous, found, isHidden })
  const problem = sourceProblemOf(input, previous, found, grace)
  if (problem !== undefined) {
    const isNews = input.previous === undefined || (problem.reason === 'SourceEmpty' && !isComplete(reading))
    const kept = isNews ? withFindings(previous, reading, documents) : previous
    return keep(kept, problem, recorded)
  }
  const { held, pending } = grace
  const locked = yield* crossRules(
    { documents, losers, before, held, pending, isIncomplete: !isComplete(reading) },
    report,
  )
  const crossFindings = report.findings()
  yield* input.places.find(placesOf(crossFindings))
  const cross = crossFindings.map((finding) => placed(finding, input.places.of))
  yield
  const hiddenLocks = hiddenLockFiles(reading, previous.lockFiles)
  const { locks, unlocked } = lockGrace({
    previous,
    locked,
    isHidden: hiddenLocks.length > 0,
    accept: input.accept,
  })
  const used = documents.filter((document) => !losers.has(document))
  const entries = entriesOf({
    previous: previous.catalog,
    reading,
    recorded,
    documents: used,
    cross,
    grace,
  })
  yield
  const catalog: Catalog = {
    revision: reading.revision,
    entries,
    locks,
    hiddenLocks,
    unread: unreadFiles(reading),
    findings: shownFindings([...allFindings(reading, documents), ...cross.map(({ finding }) => finding)]),
    deleted: grace.deleted,
    problem: undefined,
  }
  return {
    catalog,
    missingFor: grace.counts,
    accepted: grace.accepted,
    pending: new Set([...pending, ...unlocked.keys()]),
    unlocked,
    lockFiles: lockFilesAfter(previous.lockFiles, reading, isHidden),
    newcomers: newcomersAmong(losers),
    endpoints: locked.endpoints,
    counts: countsOf(documents),
  }
}

function beforeOf(
  { recorded, before, previous }: CatalogInput,
  { catalog, lockFiles, endpoints, newcomers, missingFor }: CatalogState,
): Before {
  const isGone = (key: Key) => (missingFor.get(key) ?? 0) >= AGREEING - 1
  const common = { recorded, lockFiles, newcomers, isGone }
  if (previous !== undefined || before === undefined) return { ...common, catalog, endpoints }
  return { ...common, catalog: before, endpoints: endpointsIn(before) }
}

/** Fewer manifests than this may always vanish. */
const FEW = 3

/**
 * A reading that lost too much at once is not accepted: that is an accident more often than a wish. What was never created is
 * no loss: a commit that takes it back is accepted at once.
 */
function sourceProblemOf(
  { recorded, accept, created }: CatalogInput,
  { catalog, accepted }: CatalogState,
  found: ReadonlySet<Key>,
  { missing, held }: DeletionGrace,
): SourceProblem | undefined {
  if (found.size === 0 && held.size === 0 && (catalog.entries.size > 0 || recorded.size > 0)) {
    return {
      reason: 'SourceEmpty',
      message: 'The manifests directory is empty, but it had manifests before.',
      unfound: 'all',
    }
  }
  if (accept === 'force' || missing.size < FEW) return undefined
  const standing = [...catalog.entries.keys()].filter((key) => !accepted.has(key))
  // Also after a restart, which has no entries yet.
  const before = created === undefined ? standing : [...created].filter((key) => !accepted.has(key))
  const lost = before.filter((key) => missing.has(key))
  if (lost.length < FEW || lost.length * 2 <= before.length) return undefined
  return {
    reason: 'SourceShrunk',
    message:
      `The manifests directory lost ${lost.length} of ${before.length} manifests of created resources at once. ` +
      'If they were removed on purpose, run "pipewright reconcile --accept", send SIGHUP to the daemon, or, where none runs, ' +
      'run "pipewright apply --yes". If not, bring them back.',
    unfound: new Set([...standing, ...before].filter((key) => missing.has(key))),
  }
}

function keep(
  previous: CatalogState,
  problem: SourceProblem,
  recorded: ReadonlyMap<Key, Recorded>,
): CatalogState {
  const { catalog } = previous
  const pending = new Set(previous.pending)
  for (const key of recorded.keys())
    if (!catalog.entries.has(key) && !catalog.deleted.has(key)) pending.add(key)
  return { ...previous, catalog: { ...catalog, problem }, pending }
}

/** Where there is nothing to keep, or nothing could be read, the findings of the reading are shown. */
function withFindings(
  previous: CatalogState,
  reading: Reading,
  documents: readonly ParsedDocument[],
): CatalogState {
  const findings = shownFindings(allFindings(reading, documents))
  return { ...previous, catalog: { ...previous.catalog, findings } }
}

function allFindings(reading: Reading, documents: readonly ParsedDocument[]) {
  const ofFiles = [...reading.files.values()].flatMap((file) => file.findings)
  return [...reading.findings, ...ofFiles, ...documents.flatMap((document) => document.findings)]
}

function isComplete(reading: Reading): boolean {
  return reading.unread.length === 0 && [...reading.files.values()].every((file) => file.whole)
}

/** Where a manifest may be of which nobody knows the key. */
function unreadFiles(reading: Reading): readonly string[] {
  const broken = [...reading.files.values()].filter(
    (file) => !file.whole || file.documents.some(({ key, kind }) => key === undefined && kind !== LOCK.name),
  )
  return [...new Set([...broken.map(({ file }) => file), ...reading.unread])].toSorted()
}

function countsOf(documents: readonly ParsedDocument[]): Readonly<Record<string, number>> {
  const counts = noCounts()
  for (const { kind } of documents) if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

function noCounts(): Record<string, number> {
  return Object.fromEntries(MANIFEST_KINDS.map((kind) => [kind, 0]))
}

function blank({ reading }: CatalogInput): CatalogState {
  const catalog: Catalog = {
    revision: reading.revision,
    entries: new Map(),
    locks: new Map(),
    hiddenLocks: [],
    unread: [],
    findings: [],
    deleted: new Set(),
    problem: undefined,
  }
  const nothing = new Set<Key>()
  return {
    catalog,
    missingFor: new Map(),
    accepted: nothing,
    pending: nothing,
    unlocked: new Map(),
    lockFiles: new Set(),
    newcomers: new Map(),
    endpoints: new Map(),
    counts: noCounts(),
  }
}
