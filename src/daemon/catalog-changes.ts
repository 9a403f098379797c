import type { Catalog, Entry } from '../contract/catalog.ts'
import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'

/* What a reading changed for keys whose manifests it left as they were. */

/** Keys that are to be reconciled though their manifests are as they were. */
export function concerned(
  before: Catalog | undefined,
  next: Catalog,
  records: Iterable<LedgerRecord>,
): readonly Key[] {
  return [...otherwiseWrong(before, next), ...locked(before?.locks, next), ...leaving(records)]
}

/** Keys for which a Lock says something else than before. */
function locked(before: ReadonlyMap<Key, string> | undefined, { locks, entries }: Catalog): readonly Key[] {
  if (before === locks) return []
  return [...entries.keys()].filter((key) => before?.get(key) !== locks.get(key))
}

/** Keys that were invalid before and are so still, by another mistake or as somebody else's: what is said of them is of the first one. */
function otherwiseWrong(before: Catalog | undefined, { entries }: Catalog): readonly Key[] {
  return [...entries.values()].flatMap((entry) => {
    const { key, state } = entry
    const known = before?.entries.get(key)
    if (state !== 'invalid' || known === undefined || known === entry) return []
    return saidOf(known) === saidOf(entry) ? [] : [key]
  })
}

/** Keys of what is to be deleted. Another manifest that may ask for it ends that, though it comes and goes between two looks. */
function leaving(records: Iterable<LedgerRecord>): readonly Key[] {
  return [...records].filter(({ removal }) => removal !== undefined).map(({ key }) => key)
}

function saidOf({ findings, stated }: Entry): string {
  return JSON.stringify([stated, findings.map(({ message, line, column }) => [message, line, column])])
}
