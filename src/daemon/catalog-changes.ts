import type { Catalog } from '../contract/catalog.ts'
import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'

/* What a reading changed for keys whose manifests it left as they were. */

/** Keys for which a Lock says something else than before. */
export function locked(
  before: ReadonlyMap<Key, string> | undefined,
  { locks, entries }: Catalog,
): readonly Key[] {
  if (before === locks) return []
  return [...entries.keys()].filter((key) => before?.get(key) !== locks.get(key))
}

/** Keys that were invalid before and are so still, by another mistake: what is said of them is of the first one. */
export function otherwiseWrong(before: Catalog | undefined, { entries }: Catalog): readonly Key[] {
  return [...entries.values()].flatMap(({ key, state, findings }) => {
    if (state !== 'invalid') return []
    const known = before?.entries.get(key)?.findings
    return known === undefined || known === findings || mistakesIn(known) === mistakesIn(findings)
      ? []
      : [key]
  })
}

function mistakesIn(findings: readonly Finding[]): string {
  return JSON.stringify(findings.map(({ message, line, column }) => [message, line, column]))
}
