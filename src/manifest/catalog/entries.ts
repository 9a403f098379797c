import { isResource } from '../../kinds/lookup.ts'
import type { Catalog, Entry, Recorded } from '../../contract/catalog.ts'
import type { Finding, Position } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import { sha256 } from '../../lib/digest.ts'
import type { DeletionGrace } from './deletion-grace.ts'
import { holdingFile } from '../rules/duplicate-keys.ts'
import type { PlacedFinding } from '../rules/cross-finding.ts'
import { byPosition, comparePositions, compareTexts } from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { statedIn } from '../validate/outline.ts'
import { foldersOf } from '../files/walk.ts'
import type { Reading } from '../files/read-directory.ts'

interface Input {
  readonly previous: Catalog
  readonly reading: Reading
  readonly recorded: ReadonlyMap<Key, Recorded>
  /** All documents, except those whose key another document owns. */
  readonly documents: readonly ParsedDocument[]
  readonly cross: readonly PlacedFinding[]
  readonly grace: DeletionGrace
}

type Draft = Omit<Entry, 'key' | 'digest' | 'revision'> & { readonly digest?: string | undefined }

const NONE: readonly Finding[] = []

/** Catalog entries, sorted by key. Includes keys that are missing or in an unreadable file. */
export function entriesOf(input: Input): ReadonlyMap<Key, Entry> {
  const drafts = new Map<Key, Draft>()
  const crossErrors = Map.groupBy(
    input.cross.filter(({ finding }) => finding.severity === 'error'),
    ({ document }) => document,
  )
  for (const document of input.documents) {
    const { key } = document
    if (key === undefined) continue
    const errors = errorsOf(document, crossErrors.get(document) ?? [])
    const earlier = drafts.get(key)
    drafts.set(key, earlier === undefined ? found(input, document, errors) : withMore(earlier, errors))
  }
  const errorsOfFile = fileErrors(input)
  for (const key of input.grace.held) drafts.set(key, held(input, key, errorsOfFile))
  for (const key of input.grace.pending) {
    const before = input.previous.entries.get(key)
    if (before !== undefined) drafts.set(key, { ...lastOf(before), state: 'missing', findings: NONE })
  }
  const entries = new Map<Key, Entry>()
  const sorted = [...drafts].toSorted(([a], [b]) => compareTexts(a, b))
  for (const [key, draft] of sorted) {
    const before = input.previous.entries.get(key)
    entries.set(key, finish(key, draft, before, input.reading.revision.id))
  }
  return entries
}

function errorsOf({ findings }: ParsedDocument, cross: readonly PlacedFinding[]): readonly Finding[] {
  if (findings.length === 0 && cross.length === 0) return NONE
  return [
    ...findings.filter((finding) => finding.severity === 'error'),
    ...cross.map(({ finding }) => finding),
  ]
}

function found({ previous, recorded }: Input, document: ParsedDocument, errors: readonly Finding[]): Draft {
  const { manifest, digest } = document
  const before = document.key && previous.entries.get(document.key)
  if (errors.length === 0 && isResource(manifest)) {
    return {
      state: 'valid',
      manifest,
      stated: undefined,
      digest,
      position: document.position,
      findings: NONE,
    }
  }
  const last = lastOf(before)
  const stated = document.stated ?? statedIn(manifest)
  const isAmbiguous = errors.some(({ code }) => code === 'duplicate-key')
  const position = isAmbiguous ? placeBefore(before, document.key && recorded.get(document.key)) : undefined
  return {
    ...last,
    stated,
    state: 'invalid',
    position: position ?? document.position,
    findings: errors.toSorted(byPosition),
  }
}

function placeBefore(before: Entry | undefined, record: Recorded | undefined): Position | undefined {
  if (before?.manifest !== undefined) return before.position
  const file = record && holdingFile(record)
  return file === undefined ? undefined : { file, line: 1, column: 1 }
}

const MOST_OF_KEY = 100

function withMore(draft: Draft, errors: readonly Finding[]): Draft {
  if (draft.findings.length >= MOST_OF_KEY) return draft
  return { ...draft, findings: [...draft.findings, ...errors].toSorted(byPosition) }
}

function held(
  { previous, recorded }: Input,
  key: Key,
  errorsOfFile: (file: string) => readonly Finding[],
): Draft {
  const before = previous.entries.get(key)
  const file = before?.position.file ?? recorded.get(key)?.file ?? ''
  return {
    ...lastOf(before),
    state: 'invalid',
    position: before?.position ?? { file, line: 1, column: 1 },
    findings: errorsOfFile(file),
  }
}

function fileErrors({ reading }: Input): (file: string) => readonly Finding[] {
  const ofReading = Map.groupBy(reading.findings, (finding) => finding.file)
  const known = new Map<string, readonly Finding[]>()
  const find = (file: string) => {
    const parsed = reading.files.get(file)
    const here = [
      ...[file, ...foldersOf(file)].flatMap((path) => ofReading.get(path) ?? []),
      ...(parsed?.findings ?? []),
      ...(parsed?.documents ?? []).flatMap((document) => document.findings),
    ].filter((finding) => finding.severity === 'error')
    const nobodys = here.filter((finding) => finding.key === undefined)
    return (nobodys.length > 0 ? nobodys : here).toSorted(byPosition)
  }
  return (file) => known.getOrInsertComputed(file, find)
}

function lastOf(before: Entry | undefined): Pick<Draft, 'manifest' | 'stated' | 'position'> {
  return {
    manifest: before?.manifest,
    stated: before?.stated,
    position: before?.position ?? { file: '', line: 1, column: 1 },
  }
}

/** The digest leaves out the last valid manifest, because a new process does not know it. */
function digestOfMistaken({ state, findings }: Draft): string {
  const mistakes = findings.map(({ code, lineText }) => [code, lineText])
  return sha256(JSON.stringify([state, mistakes]))
}

/** If the digest equals that of `before`, the entry keeps the revision of `before`. */
function finish(key: Key, draft: Draft, before: Entry | undefined, revision: string): Entry {
  const digest = draft.digest ?? digestOfMistaken(draft)
  const isEqual = before?.digest === digest
  const isSame =
    isEqual &&
    before.findings.length === 0 &&
    draft.findings.length === 0 &&
    comparePositions(before.position, draft.position) === 0
  if (isSame) return before
  const { digest: _, ...rest } = draft
  return {
    key,
    ...rest,
    digest,
    revision,
    ...(isEqual && { manifest: before.manifest, revision: before.revision }),
  }
}
