import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { blankRecord } from '../plan/record.ts'
import type { Deps } from './deps.ts'

type Known = Pick<Deps, 'ledger' | 'world'>

/** What the ledger says of a key now. */
export async function currentRecord({ ledger, world }: Known, key: Key): Promise<LedgerRecord> {
  const record = await ledger.get(key)
  if (record !== undefined) world.note(record)
  else if (world.record(key) !== undefined) world.drop(key) // a person forgot it
  return record ?? blankRecord(key)
}

/** Takes over what somebody else, such as a person's command, has written of any key. @returns the keys */
export async function catchUp({ ledger, world }: Known): Promise<readonly Key[]> {
  // As known before the ledger is asked: what is written meanwhile is not mistaken for something else.
  const known = new Map<Key, number>()
  for (const { key, version } of world.records()) known.set(key, version)
  const there = await ledger.versions()
  const changed: Key[] = []
  for (const [key, version] of there) {
    if (known.get(key) === version) continue
    const record = await ledger.get(key)
    if (record === undefined) continue
    if (record.version > (world.record(key)?.version ?? 0)) world.note(record)
    changed.push(key)
  }
  for (const [key, version] of known) {
    // One without a version is about to be written.
    if (there.has(key) || version === 0 || world.record(key)?.version !== version) continue
    world.drop(key)
    changed.push(key)
  }
  return changed.toSorted()
}

/** Records as somebody else has written them since they were last read. */
export async function newsIn({ ledger, world }: Known): Promise<readonly LedgerRecord[]> {
  const news: LedgerRecord[] = []
  for (const [key, version] of await ledger.versions()) {
    if (world.record(key)?.version === version) continue
    const record = await ledger.get(key)
    if (record !== undefined) news.push(record)
  }
  return news
}
