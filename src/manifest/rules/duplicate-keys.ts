import type { Catalog, Recorded } from '../../contract/catalog.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import { keyOf, type Key } from '../../kinds/key.ts'
import type { Path } from '../diagnostics/diagnostic.ts'
import { contentDigest } from '../validate/content-digest.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { groupsOf, othersIn, whereOf, type CrossReport } from './cross-finding.ts'

/** What is known from before about who has which key. */
export interface Before {
  readonly catalog: Catalog
  /** Keys in the ledger. */
  readonly recorded: ReadonlyMap<Key, Recorded>
  /** Files in which a Lock stood when they were last read. */
  readonly lockFiles: ReadonlySet<string>
  /** Files in which documents stood that were not used, since another one had their key. */
  readonly newcomers: ReadonlyMap<Key, ReadonlySet<string>>
  /** Whether a key that this reading does not find is gone for good: those before agree. */
  readonly isGone: (key: Key) => boolean
  /** Which key had which query endpoint: see {@link endpointIn}. */
  readonly endpoints: ReadonlyMap<string, Key>
}

const NAME: Path = ['metadata', 'name']

/**
 * Of several documents with one key, the one that had it before keeps it. Where nobody can tell which one that is, none is used.
 * @param isHidden whether a file may hold more than this reading saw
 * @returns documents whose key another one has: they are not used
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

/** Files in which documents stand that are not used, by the key that another one has. */
export function newcomersAmong(losers: ReadonlySet<ParsedDocument>): Before['newcomers'] {
  const newcomers = new Map<Key, Set<string>>()
  for (const { key, position } of losers) {
    if (key === undefined) continue
    const files = newcomers.get(key) ?? new Set<string>()
    newcomers.set(key, files.add(position.file))
  }
  return newcomers
}

/** The file of the one that had a key, in which it does not stand now, and yet nobody else gets the key. */
interface Away {
  readonly file: string
  readonly why: 'unreadable' | 'not found'
}

/**
 * The one that had the key may still stand in a file that cannot be read now. And who stood beside it is not what it was moved to:
 * such a one waits until as many readings agree as for any key that is gone.
 */
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

/** Where the document stood that had a key, and what it said: as the last reading saw it, or else as the ledger says. */
interface Holder {
  readonly file: string
  readonly meaning: string | undefined
}

function holderOf(key: Key, { catalog, recorded }: Before): Holder | undefined {
  const entry = catalog.entries.get(key)
  if (entry?.manifest !== undefined)
    return {
      file: entry.position.file,
      meaning: entry.state === 'valid' ? entry.digest : contentDigest(entry.manifest),
    }
  const record = recorded.get(key)
  if (record === undefined) return undefined
  const file = holdingFile(record)
  return file === undefined ? undefined : { file, meaning: record.digest }
}

/** Where the one stood that had a key, as the ledger says. Only what was valid claims one, or what something was made of. */
export function holdingFile({ validIn, file, pipeId, endpointOf }: Recorded): string | undefined {
  return validIn ?? (pipeId !== undefined || endpointOf !== undefined ? file : undefined)
}

function holderAmong(group: readonly ParsedDocument[], before: Before): ParsedDocument | undefined {
  const [first] = group
  if (first?.kind === LOCK.name)
    return only(group.filter(({ position }) => before.lockFiles.has(position.file)))
  const holder = first?.key && holderOf(first.key, before)
  // Only what is valid claims anything.
  if (holder === undefined) return only(group.filter(({ manifest }) => manifest !== undefined))
  const inFile = group.filter(({ position }) => position.file === holder.file)
  const isSame = ({ meaning }: ParsedDocument) => meaning !== undefined && meaning === holder.meaning
  // A file that is edited keeps what it had; one that is moved is known by what it says.
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
    message: `There is a ${name} already, at ${whereOf(holder)}; that one stays in use, and this one is not used.`,
    hint: 'Give this one another name, or remove it.',
    others: [{ document: holder, path: [], message: `the ${name} that is in use` }],
  }))
}

function reportWaiting(report: CrossReport, document: ParsedDocument, { file, why }: Away): void {
  const name = nameIn(document)
  report.add({ document, path: NAME, severity: 'error', code: 'duplicate-key' }, () =>
    why === 'unreadable'
      ? {
          message: `${name} stood in ${file}, which cannot be read now; until it can, this one is not used.`,
          hint: `Look at the findings of ${file} first.`,
        }
      : {
          message: `${name} stood in ${file} until just now; until it is sure that it is gone, this one is not used.`,
          hint: 'If it was removed on purpose, this one is used in a moment.',
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
        message: `${name} is there more than once: here and at ${first === undefined ? '' : whereOf(first)}.`,
        hint: 'Rename or remove all but one; until then none of them is used.',
        // Where it begins, as the message says.
        others: others.map((other) => ({ document: other, path: [], message: `the other ${name}` })),
      }
    })
  }
}
