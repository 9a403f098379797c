import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { blankRecord } from '../plan/record.ts'
import type { Deps } from './deps.ts'

type Known = Pick<Deps, 'ledger' | 'world'>

/** What the ledger says of a key now; read in full only when it is not what we know already. */
export async function currentRecord({ ledger, world }: Known, key: Key): Promise<LedgerRecord> {
  const known = world.record(key)
  const record = known === undefined ? await ledger.get(key) : await ledger.current(known)
  if (record !== undefined) world.note(record)
  else if (known !== undefined) world.drop(key) // a person forgot it
  return record ?? blankRecord(key)
}

/** Takes over what somebody else, such as a person's command, has written of any key. @returns the keys */
export async function catchUp(known: Known): Promise<readonly Key[]> {
  const { ledger, world } = known
  const written = await newsIn(known)
  for (const record of written) world.note(record)
  const there = await ledger.versions()
  // One without a version is about to be written.
  const gone = [...world.records()].filter(({ key, version }) => version > 0 && !there.has(key))
  const removed = gone.map(({ key }) => key)
  for (const key of removed) world.drop(key)
  return [...written.map(({ key }) => key), ...removed].toSorted()
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
