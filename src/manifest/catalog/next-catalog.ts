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
import { checkLocks } from '../rules/lock-rules.ts'
import { CHAINS, checkCircles, checkReferences } from '../rules/reference-rules.ts'
import { checkEndpoints, checkPipeNames } from '../rules/service-rules.ts'
import { endpointsIn, ownershipEvidence } from '../rules/ownership.ts'
import { keyHolders, newcomersAmong, type Before } from '../rules/duplicate-keys.ts'
import { entriesOf } from './entries.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import type { Places } from '../rules/source-locator.ts'
import type { Reading } from '../files/read-directory.ts'
import type { Finding } from '../../kinds/finding.ts'
import { byPosition, findingOfFile } from '../diagnostics/diagnostic.ts'

export interface CatalogInput {
  readonly previous: CatalogState | undefined
  /** Used without `previous`: it says which manifest owned a key, an id or an endpoint. */
  readonly before?: Catalog | undefined
  readonly reading: Reading
  readonly recorded: ReadonlyMap<Key, Recorded>
  readonly created?: ReadonlySet<Key> | undefined
  readonly places: Places
  readonly accept: 'force' | 'normal'
}

/** Makes the next catalog. What the reading cannot prove, such as a removal, keeps its earlier value. */
export function* catalogSteps(input: CatalogInput): Generator<void, CatalogState> {
  const { reading, recorded } = input
  const previous = input.previous ?? blank(input)
  if (reading.problem !== undefined) return keep(previous, reading.problem, recorded)
  const documents = [...reading.files.values()].flatMap((file) => file.documents)
  const unread = unreadFiles(reading)
  const isHidden = hiddenIn(unread)
  const before = beforeOf(input, previous)
  const report = createCrossReport()
  const losers = keyHolders(documents, before, { isHidden, report })
  const used = losers.size === 0 ? documents : documents.filter((document) => !losers.has(document))
  const found = keysOf(used)
  yield
  const grace = deletionGraceOf({ ...input, previous, found, isHidden })
  const problem = sourceProblemOf(input, previous, found, grace)
  if (problem !== undefined) {
    const isNews = input.previous === undefined || (problem.reason === 'SourceEmpty' && unread.length > 0)
    if (!isNews) return keep(previous, problem, recorded)
    const findings = shownFindings(allFindings(reading, documents))
    return keep({ ...previous, catalog: { ...previous.catalog, findings } }, problem, recorded)
  }
  const { held, pending } = grace
  const existing = held.union(pending).union(keysOf(documents))
  // This rule is first, because later rules ignore manifests that it finds invalid.
  checkReferences({ documents, existing, isIncomplete: unread.length > 0 }, report)
  yield
  for (const chain of CHAINS) checkCircles(chain, used, before, report)
  yield
  const standing = ownershipEvidence(used, before, { isInvalid: report.isInvalid, held, pending })
  yield
  const endpoints = checkEndpoints(standing, report)
  yield
  checkPipeNames(used, standing.serviceIs, report)
  yield
  const locked = checkLocks({ documents: used, standing, existing }, report)
  const crossFindings = report.findings()
  yield* input.places.find(placesOf(crossFindings))
  const cross = crossFindings.map((finding) => placed(finding, input.places.of))
  yield
  const hiddenLocks = hiddenLockFiles({ ...reading, unread }, previous.lockFiles)
  const { locks, unlocked } = lockGrace({
    previous,
    locked,
    isHidden: hiddenLocks.length > 0,
    accept: input.accept,
  })
  const entries = entriesOf({ previous: previous.catalog, reading, recorded, documents: used, cross, grace })
  yield
  const catalog: Catalog = {
    revision: reading.revision,
    entries,
    locks,
    hiddenLocks,
    unread,
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
    endpoints,
    counts: countsOf(documents),
  }
}

function keysOf(documents: Iterable<ParsedDocument>): ReadonlySet<Key> {
  const keys = new Set<Key>()
  for (const { key } of documents) if (key !== undefined) keys.add(key)
  return keys
}

function beforeOf({ recorded, before, previous }: CatalogInput, state: CatalogState): Before {
  const isGone = (key: Key) => (state.missingFor.get(key) ?? 0) >= AGREEING - 1
  const owners = previous === undefined && before && { catalog: before, endpoints: endpointsIn(before) }
  return { ...state, ...owners, recorded, isGone }
}

/** Number of manifests. A loss of fewer is always accepted. */
const FEW = 3

/**
 * Rejects a reading that lost most manifests, because this is more often an accident than a decision.
 * Manifests without a created resource do not count.
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
      message:
        'The manifests directory is empty, but it had manifests before. Nothing changes until you restore them.',
      unfound: 'all',
    }
  }
  if (accept === 'force' || missing.size < FEW) return undefined
  const standing = [...catalog.entries.keys()].filter((key) => !accepted.has(key))
  // After a restart, the catalog has no entries yet, but the ledger knows the created keys.
  const before = created === undefined ? standing : [...created].filter((key) => !accepted.has(key))
  const lost = before.filter((key) => missing.has(key))
  if (lost.length < FEW || lost.length * 2 <= before.length) return undefined
  return {
    reason: 'SourceShrunk',
    message:
      `The manifests directory lost ${lost.length} of ${before.length} manifests of created resources together. ` +
      'Nothing changes until you decide. To accept the loss, run "pipewright reconcile --accept" or send SIGHUP to the daemon. ' +
      'Without a daemon, run "pipewright apply --yes". If the loss is a mistake, restore the manifests.',
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

function allFindings(reading: Reading, documents: readonly ParsedDocument[]) {
  const ofFiles = [...reading.files.values()].flatMap((file) => file.findings)
  return [...reading.findings, ...ofFiles, ...documents.flatMap((document) => document.findings)]
}

function unreadFiles(reading: Reading): readonly string[] {
  const broken = [...reading.files.values()].filter(({ whole }) => !whole)
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

/** Limited, because each finding is kept, compared and sent to all clients. */
const MAX_FINDINGS = 2_000

const MAX_FINDINGS_OF_FILE = 20

/** Findings to show, sorted by position. Beyond the limit, a file has at most {@link MAX_FINDINGS_OF_FILE}. */
export function shownFindings(all: readonly Finding[]): readonly Finding[] {
  if (all.length <= MAX_FINDINGS) return all.toSorted(byPosition)
  const byFile = [...Map.groupBy(all, ({ file }) => file).values()].map((findings) =>
    findings.toSorted(errorsFirst),
  )
  // Files with few findings come first, because a file with very many is usually generated.
  const few = byFile
    .toSorted((a, b) => a.length - b.length)
    .flatMap((findings) => findings.slice(0, MAX_FINDINGS_OF_FILE))
  const shown = few.slice(0, MAX_FINDINGS)
  const isShown = new Set(shown)
  const rest = all.filter((finding) => !isShown.has(finding)).toSorted(errorsFirst)
  const [first] = rest
  return first === undefined ? shown : [...shown, moreAfter(first, rest.length)].toSorted(byPosition)
}

function errorsFirst(a: Finding, b: Finding): number {
  return Number(a.severity === 'warning') - Number(b.severity === 'warning') || byPosition(a, b)
}

function moreAfter({ file, severity }: Finding, count: number): Finding {
  return findingOfFile(file, {
    severity,
    code: 'too-many-findings',
    message: `The directory has ${count} more findings that are not shown. At least one is in this file.`,
    hint: 'Correct the shown findings first.',
  })
}
