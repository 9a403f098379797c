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
    const file = document.key && holderOf(document.key, before)?.file
    // The one that had the key may still stand in a file that cannot be read now.
    if (
      file === undefined ||
      contested.has(nameIn(document)) ||
      file === document.position.file ||
      !isHidden(file)
    )
      continue
    losers.add(document)
    reportShadowed(report, document, file)
  }
  for (const [name, group] of several) {
    const file = group[0]?.key && holderOf(group[0].key, before)?.file
    const isAway =
      file !== undefined && isHidden(file) && group.every(({ position }) => position.file !== file)
    const holder = isAway ? undefined : holderAmong(group, before)
    if (isAway) {
      for (const document of group) reportShadowed(report, document, file)
    } else if (holder === undefined) reportAmbiguous(report, name, group)
    else {
      for (const document of group) if (document !== holder) reportLoser(report, document, holder)
    }
    if (isAway || holder !== undefined)
      for (const document of group) if (document !== holder) losers.add(document)
  }
  return losers
}

function nameIn({ key, kind, name }: ParsedDocument): string {
  return key ?? keyOf(kind ?? '', name ?? '')
}

/** Where the document stood that had a key, and what it said: as the last reading saw it, or else as the ledger says. */
interface Holder {
  /** Undefined: nothing was made of it yet, and what it said is all there is to know it by. */
  readonly file: string | undefined
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
  const isMade = record.pipeId !== undefined || record.endpointOf !== undefined
  return { file: isMade ? record.file : undefined, meaning: record.digest }
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
  return only(inFile) ?? (inFile.length > 0 ? inFile : group).find(isSame)
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

function reportShadowed(report: CrossReport, document: ParsedDocument, file: string): void {
  report.add({ document, path: NAME, severity: 'error', code: 'duplicate-key' }, () => ({
    message: `${nameIn(document)} stood in ${file}, which cannot be read now; until it can, this one is not used.`,
    hint: `Look at the findings of ${file} first.`,
  }))
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
