import type { Catalog, Entry } from '../contract/catalog.ts'
import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'

/** Keys to reconcile although their manifests are unchanged. */
export function listAffected(
  before: Catalog | undefined,
  next: Catalog,
  records: Iterable<LedgerRecord>,
): readonly Key[] {
  return [
    ...changedMistakes(before, next),
    ...changedLocks(before?.locks, next),
    ...pendingDeletions(records),
  ]
}

function changedLocks(
  before: ReadonlyMap<Key, string> | undefined,
  { locks, entries }: Catalog,
): readonly Key[] {
  if (before === locks) return []
  return [...entries.keys()].filter((key) => before?.get(key) !== locks.get(key))
}

/** Keys that stay invalid for another reason: the shown message is outdated. */
function changedMistakes(before: Catalog | undefined, { entries }: Catalog): readonly Key[] {
  return [...entries.values()].flatMap((entry) => {
    const { key, state } = entry
    const known = before?.entries.get(key)
    if (state !== 'invalid' || known === undefined || known === entry) return []
    return mistakesOf(known) === mistakesOf(entry) ? [] : [key]
  })
}

/** A manifest that claims the key ends its deletion, even if it disappears before the next read. */
function pendingDeletions(records: Iterable<LedgerRecord>): readonly Key[] {
  return [...records].filter(({ removal }) => removal !== undefined).map(({ key }) => key)
}

function mistakesOf({ findings, stated }: Entry): string {
  return JSON.stringify([stated, findings.map(({ message, line, column }) => [message, line, column])])
}
