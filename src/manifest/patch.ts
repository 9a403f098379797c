import type { Entry } from '../kinds/catalog.ts'
import type { Finding } from '../kinds/finding.ts'
import { serviceOf, platformNameOf } from '../kinds/manifest.ts'
import type { Key } from '../kinds/key.ts'
import type { CatalogInput } from './catalog.ts'
import type { CatalogState } from './catalog-state.ts'
import { entryOf } from './entries.ts'
import { byPosition } from './findings.ts'
import type { ParsedDocument } from './parse-document.ts'
import type { ParsedFile } from './parse-file.ts'
import type { Reading } from './read-directory.ts'

/** A catalog that differs from the one before in some entries and their findings, and in nothing else. */
export interface Patch {
  readonly state: CatalogState
  /** Entries that took the place of others. */
  readonly entries: readonly Entry[]
}

/**
 * The next catalog at the cost of what changed: where only the inside of documents did, and nothing that the rules
 * between documents look at. Says just what `nextCatalog` would say. Pure.
 * @param before the reading that the previous catalog came from
 * @returns undefined when it takes `nextCatalog` to tell
 */
export function patchCatalog(
  { previous, reading, known, accept }: CatalogInput,
  before: Reading,
): Patch | undefined {
  if (previous === undefined || !isSettled(previous, known, accept) || !isSameBut(reading, before))
    return undefined
  const changed = changedFiles(reading, before)
  if (changed === undefined || changed.some((change) => !isInside(change, previous))) return undefined
  const { catalog } = previous
  const entries: Entry[] = []
  for (const document of changed.flatMap(({ after }) => after.documents)) {
    const old = document.key === undefined ? undefined : catalog.entries.get(document.key)
    if (document.key === undefined || old === undefined) return undefined
    const entry = entryOf(document.key, document, old, reading.revision.id)
    if (entry !== old) entries.push(entry)
  }
  const files = new Set(changed.map(({ after }) => after.file))
  return {
    entries,
    state: {
      ...previous,
      catalog: {
        ...catalog,
        revision: reading.revision,
        entries: entries.length === 0 ? catalog.entries : withEntries(catalog.entries, entries),
        findings: withFindings(catalog.findings, files, changed),
      },
    },
  }
}

/** Nothing is missing, hidden or in doubt that a further reading would count. */
function isSettled(
  { catalog, pending, absences, complete }: CatalogState,
  known: CatalogInput['known'],
  accept: CatalogInput['accept'],
): boolean {
  if (catalog.problem !== undefined || pending.size > 0 || !complete) return false
  if (accept === 'believe' && absences.size > 0) return false
  for (const key of catalog.gone) if (!known.has(key)) return false
  for (const key of known.keys()) if (!catalog.entries.has(key) && !catalog.gone.has(key)) return false
  return true
}

/** The same files, and the same said of what could not be read. */
function isSameBut(reading: Reading, before: Reading): boolean {
  return (
    reading.problem === undefined &&
    before.problem === undefined &&
    reading.files.size === before.files.size &&
    isSame(reading.findings, before.findings) &&
    isSame(reading.unread, before.unread)
  )
}

interface Change {
  readonly before: ParsedFile
  readonly after: ParsedFile
}

function changedFiles(reading: Reading, { files }: Reading): readonly Change[] | undefined {
  const changes: Change[] = []
  for (const [file, after] of reading.files) {
    const before = files.get(file)
    if (before === undefined) return undefined
    if (before !== after) changes.push({ before, after })
  }
  return changes
}

/** Whether a change stays inside of documents: none came or went, and none bears on another in a new way. */
function isInside({ before, after }: Change, { crossed }: CatalogState): boolean {
  return (
    !crossed.has(after.file) &&
    before.whole &&
    after.whole &&
    before.mayHideLock === after.mayHideLock &&
    isSame(before.findings, after.findings) &&
    before.documents.length === after.documents.length &&
    before.documents.every((document, index) => {
      const ties = tiesOf(document)
      return ties !== undefined && ties === tiesOf(after.documents[index])
    })
  )
}

/** All that the rules between documents look at in one of them; undefined for what they look at as a whole. */
function tiesOf(document: ParsedDocument | undefined): string | undefined {
  const manifest = document?.manifest
  if (manifest?.kind !== 'Pipe' && manifest?.kind !== 'QueryEndpoint' && manifest?.kind !== 'Alert')
    return undefined
  const { policy } = manifest
  const ofPipe =
    manifest.kind === 'Pipe'
      ? [
          platformNameOf(manifest),
          manifest.policy?.adopt,
          manifest.policy?.replaces,
          manifest.policy?.renamedFrom,
        ]
      : []
  return JSON.stringify([document?.key, serviceOf(manifest), policy?.dependsOn, document?.secretRefs, ofPipe])
}

function withEntries(before: ReadonlyMap<Key, Entry>, entries: readonly Entry[]): ReadonlyMap<Key, Entry> {
  const next = new Map(before)
  for (const entry of entries) next.set(entry.key, entry)
  return next
}

function withFindings(
  before: readonly Finding[],
  files: ReadonlySet<string>,
  changed: readonly Change[],
): readonly Finding[] {
  const kept = before.filter(({ file }) => !files.has(file))
  const more = changed.flatMap(({ after }) => [
    ...after.findings,
    ...after.documents.flatMap((document) => document.findings),
  ])
  if (more.length === 0) return kept.length === before.length ? before : kept
  return [...kept, ...more].toSorted(byPosition)
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
