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
export async function catchUp({ ledger, world }: Known): Promise<readonly Key[]> {
  const versions = await ledger.versions()
  const known = new Map([...world.records()].map(({ key, version }) => [key, version]))
  const written = [...versions].filter(([key, version]) => known.get(key) !== version).map(([key]) => key)
  for (const key of written) {
    const record = await ledger.get(key)
    if (record !== undefined) world.note(record)
  }
  const removed = [...known.keys()].filter((key) => !versions.has(key))
  for (const key of removed) world.drop(key)
  return [...written, ...removed].toSorted()
}
