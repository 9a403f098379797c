import type { Catalog, Recorded } from '../../contract/catalog.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import { keyOf, type Key } from '../../kinds/key.ts'
import type { Path } from '../../kinds/finding.ts'
import { contentDigest, type ParsedDocument } from '../validate/parsed-document.ts'
import { groupsOf, othersIn, whereOf, type CrossReport } from './cross-finding.ts'

export interface Before {
  readonly catalog: Catalog
  readonly recorded: ReadonlyMap<Key, Recorded>
  /** Files that held a Lock at their last successful reading. */
  readonly lockFiles: ReadonlySet<string>
  /** For each key, the files of documents that are ignored, because another document owns the key. */
  readonly newcomers: ReadonlyMap<Key, ReadonlySet<string>>
  /** Whether earlier readings agree that the key is deleted. */
  readonly isGone: (key: Key) => boolean
  /** The key that owns each endpoint. {@link endpointIn} gives the endpoint of a manifest. */
  readonly endpoints: ReadonlyMap<string, Key>
}

const NAME: Path = ['metadata', 'name']

/**
 * If several documents have a key, only its earlier owner is used. If the owner is unclear, none is used.
 * @param isHidden whether a file might hold documents that this reading did not see
 * @returns the documents that are not used
 */
export function keyHolders(
  documents: readonly ParsedDocument[],
  before: Before,
  { isHidden, report }: { readonly isHidden: (file: string) => boolean; readonly report: CrossReport },
): ReadonlySet<ParsedDocument> {
  const losers = new Set<ParsedDocument>()
  const named = documents.filter(({ kind, name }) => kind !== undefined && name !== undefined)
  const several = groupsOf(named, nameIn)
  const contested = new Set(several.map(([name]) => name))
  for (const document of named) {
    if (contested.has(nameIn(document))) continue
    const away = awayFrom([document], before, isHidden)
    if (away === undefined) continue
    losers.add(document)
    reportWaiting(report, document, away)
  }
  for (const [name, group] of several) {
    const away = awayFrom(group, before, isHidden)
    const holder = away === undefined ? holderAmong(group, before) : undefined
    if (away === undefined && holder === undefined) {
      reportAmbiguous(report, name, group)
      continue
    }
    for (const document of group) {
      if (document === holder) continue
      losers.add(document)
      if (holder !== undefined) reportLoser(report, document, holder)
      else if (away !== undefined) reportWaiting(report, document, away)
    }
  }
  return losers
}

export function newcomersAmong(losers: ReadonlySet<ParsedDocument>): Before['newcomers'] {
  const newcomers = new Map<Key, Set<string>>()
  for (const { key, position } of losers) {
    if (key !== undefined) newcomers.getOrInsertComputed(key, () => new Set()).add(position.file)
  }
  return newcomers
}

/** The file in which the owner of a key was seen last. The key stays reserved for this owner. */
interface Away {
  readonly file: string
  readonly why: 'unreadable' | 'not found'
}

/** Finds a missing owner that keeps its key, because its file is unreadable or it disappeared only recently. */
function awayFrom(
  group: readonly ParsedDocument[],
  before: Before,
  isHidden: (file: string) => boolean,
): Away | undefined {
  const key = group[0]?.key
  const file = key && holderOf(key, before)?.file
  if (key === undefined || file === undefined || group.some(({ position }) => position.file === file))
    return undefined
  if (isHidden(file)) return { file, why: 'unreadable' }
  return before.isGone(key) || !group.every((document) => isNewcomer(document, before))
    ? undefined
    : { file, why: 'not found' }
}

function isNewcomer({ key, position }: ParsedDocument, { newcomers }: Before): boolean {
  return key !== undefined && newcomers.get(key)?.has(position.file) === true
}

function nameIn({ key, kind, name }: ParsedDocument): string {
  return key ?? keyOf(kind ?? '', name ?? '')
}

function holderOf(
  key: Key,
  { catalog, recorded }: Before,
): { readonly file: string; readonly digest: string | undefined } | undefined {
  const entry = catalog.entries.get(key)
  if (entry?.manifest !== undefined)
    return {
      file: entry.position.file,
      digest: entry.state === 'valid' ? entry.digest : contentDigest(entry.manifest),
    }
  const record = recorded.get(key)
  if (record === undefined) return undefined
  const file = holdingFile(record)
  return file === undefined ? undefined : { file, digest: record.digest }
}

/** The owner's file, from the ledger. Only a document that was valid, or created a resource, owns a key. */
export function holdingFile({ validIn, file, pipeId, endpointOf }: Recorded): string | undefined {
  return validIn ?? (pipeId !== undefined || endpointOf !== undefined ? file : undefined)
}

function holderAmong(group: readonly ParsedDocument[], before: Before): ParsedDocument | undefined {
  const [first] = group
  if (first?.kind === LOCK.name)
    return only(group.filter(({ position }) => before.lockFiles.has(position.file)))
  const holder = first?.key && holderOf(first.key, before)
  if (holder === undefined) return only(group.filter(({ manifest }) => manifest !== undefined))
  const inFile = group.filter(({ position }) => position.file === holder.file)
  const isSame = ({ digest }: ParsedDocument) => digest !== undefined && digest === holder.digest
  // A document in the owner's file is the owner, perhaps edited. Without such a document, the owner moved.
  if (inFile.length > 0) return only(inFile) ?? inFile.find(isSame)
  const fresh = group.filter((document) => !isNewcomer(document, before))
  const moved = fresh.length > 0 ? fresh : group
  return only(moved) ?? only(moved.filter(isSame))
}

function only<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined
}

function reportLoser(report: CrossReport, document: ParsedDocument, holder: ParsedDocument): void {
  const name = nameIn(document)
  report.add({ document, path: NAME, severity: 'error', code: 'duplicate-key' }, () => ({
    message: `${name} exists already, at ${whereOf(holder)}. The manifest there stays in use. This one is not used.`,
    hint: 'Rename or remove this manifest.',
    others: [{ document: holder, path: [], message: `the ${name} that is in use` }],
  }))
}

function reportWaiting(report: CrossReport, document: ParsedDocument, { file, why }: Away): void {
  const name = nameIn(document)
  report.add({ document, path: NAME, severity: 'error', code: 'duplicate-key' }, () =>
    why === 'unreadable'
      ? {
          message: `${name} was in ${file}, which cannot be read now. This manifest is not used until that file is readable.`,
          hint: `Correct the findings of ${file} first.`,
        }
      : {
          message: `${name} was in ${file} a moment ago. This manifest is not used until three reads confirm that ${name} is no longer there.`,
          hint: `If you moved the manifest here, wait a moment. If not, rename or remove this manifest.`,
        },
  )
}

function reportAmbiguous(report: CrossReport, name: string, group: readonly ParsedDocument[]): void {
  const othersOf = othersIn(group, (document) => document)
  for (const document of group) {
    report.add({ document, path: NAME, severity: 'error', code: 'duplicate-key' }, () => {
      const others = othersOf(document)
      const [first] = others
      return {
        message: `${name} exists more than once: here and at ${first === undefined ? '' : whereOf(first)}.`,
        hint: 'Keep one of the manifests, and rename or remove the others. Until then, Pipewright uses none of them.',
        others: others.map((other) => ({ document: other, path: [], message: `the other ${name}` })),
      }
    })
  }
}
