import type { Catalog, SourceProblem } from '../../contract/catalog.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import {
  deletionGraceOf,
  type CatalogState,
  type DeletionGrace,
  hiddenLockFiles,
  lockFilesAfter,
  lockGrace,
} from './deletion-grace.ts'
import { claimsIn } from '../rules/lock-rules.ts'
import { placed } from '../rules/cross-finding.ts'
import { crossFindings } from '../rules/reference-rules.ts'
import { entriesOf } from './entries.ts'
import { byPosition } from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parse-document.ts'
import type { Places } from '../rules/source-locator.ts'
import type { Reading } from '../files/read-directory.ts'

export interface CatalogInput {
  readonly previous: CatalogState | undefined
  readonly reading: Reading
  /** Keys in the ledger, each with the file where it was last seen. */
  readonly known: ReadonlyMap<Key, string | undefined>
  /** Keys of which something was created or applied. Undefined: all count as that. */
  readonly created?: ReadonlySet<Key> | undefined
  readonly placeOf: Places
  /** `force`: a person asked for this reading, and means what the directory says. */
  readonly accept: 'force' | 'normal'
}

/** The catalog after one more reading. Pure. Whatever is not known for sure stays as it was (design §2, law 3). */
export function nextCatalog(input: CatalogInput): CatalogState {
  const { reading, known } = input
  const previous = input.previous ?? blank(input)
  if (reading.problem !== undefined) return keep(previous, reading.problem, known)
  const documents = [...reading.files.values()].flatMap((file) => file.documents)
  const found = new Set<Key>()
  for (const { key } of documents) if (key !== undefined) found.add(key)
  const grace = deletionGraceOf({ ...input, previous, found })
  const problem = sourceProblemOf(input, previous, found, grace)
  if (problem !== undefined) {
    const isNews = input.previous === undefined || (problem.reason === 'SourceEmpty' && !isComplete(reading))
    const kept = isNews ? withFindings(previous, reading, documents) : previous
    return keep(kept, problem, known)
  }
  const standing = new Set([...grace.held, ...grace.pending])
  const claims = claimsIn(documents)
  const cross = crossFindings({ documents, claims, standing, incomplete: !isComplete(reading) }).map(
    (finding) => placed(finding, input.placeOf),
  )
  const hiddenLocks = hiddenLockFiles(reading, previous.lockFiles)
  const { locks, unlocked } = lockGrace({
    previous,
    claims,
    isHidden: hiddenLocks.length > 0,
    accept: input.accept,
  })
  const catalog: Catalog = {
    revision: reading.revision,
    entries: entriesOf({ previous: previous.catalog, reading, known, documents, cross, grace }),
    locks,
    hiddenLocks,
    findings: [...allFindings(reading, documents), ...cross.map(({ finding }) => finding)].toSorted(
      byPosition,
    ),
    deleted: grace.deleted,
    problem: undefined,
  }
  const { counts: missing, accepted, pending } = grace
  return {
    catalog,
    missingFor: missing,
    accepted,
    pending: new Set([...pending, ...unlocked.keys()]),
    unlocked,
    lockFiles: lockFilesAfter(previous.lockFiles, reading, grace.isHidden),
    counts: countsOf(documents),
  }
}

/** Fewer manifests than this may always vanish. */
const FEW = 3

/**
 * A reading that lost too much at once is not accepted: that is an accident more often than a wish. What was never created is
 * no loss: a commit that takes it back is accepted at once.
 */
function sourceProblemOf(
  { known, accept, created }: CatalogInput,
  { catalog, accepted }: CatalogState,
  found: ReadonlySet<Key>,
  { missing, held }: DeletionGrace,
): SourceProblem | undefined {
  if (found.size === 0 && held.size === 0 && (catalog.entries.size > 0 || known.size > 0)) {
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
  known: ReadonlyMap<Key, string | undefined>,
): CatalogState {
  const { catalog } = previous
  const pending = new Set(previous.pending)
  for (const key of known.keys()) if (!catalog.entries.has(key) && !catalog.deleted.has(key)) pending.add(key)
  return { ...previous, catalog: { ...catalog, problem }, pending }
}

/** Where there is nothing to keep, or nothing could be read, the findings of the reading are shown. */
function withFindings(
  previous: CatalogState,
  reading: Reading,
  documents: readonly ParsedDocument[],
): CatalogState {
  const findings = allFindings(reading, documents).toSorted(byPosition)
  return { ...previous, catalog: { ...previous.catalog, findings } }
}

function allFindings(reading: Reading, documents: readonly ParsedDocument[]) {
  const ofFiles = [...reading.files.values()].flatMap((file) => file.findings)
  return [...reading.findings, ...ofFiles, ...documents.flatMap((document) => document.findings)]
}

function isComplete(reading: Reading): boolean {
  return reading.unread.length === 0 && [...reading.files.values()].every((file) => file.whole)
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
    counts: noCounts(),
  }
}
