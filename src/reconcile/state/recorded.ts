import type { Recorded } from '../../contract/catalog.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import { serviceIdentity } from '../../kinds/service/kind.ts'
import { expectsManifest } from '../../plan/gates.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import { lastValidIn, type LedgerRecord } from '../../plan/record.ts'
import { isLockable } from '../../kinds/lookup.ts'
import { isUuid, sameId } from '../../lib/same-id.ts'
import type { StateStore } from './store.ts'

export function createdOf(records: Iterable<LedgerRecord>): ReadonlySet<Key> {
  const keys = new Set<Key>()
  for (const record of records) if (expectsManifest(record)) keys.add(record.key)
  return keys
}

export function recordedOf(records: Iterable<LedgerRecord>): ReadonlyMap<Key, Recorded> {
  const recorded = new Map<Key, Recorded>()
  const all = [...records]
  const last = lastUpserts(all)
  for (const record of all) {
    const { key, file, manifest, remote, service } = record
    const endpointOf = service && last.has(key) ? serviceIdentity(service) : undefined
    const validIn = lastValidIn(record)
    const isAwaiting = undecidedIntent(record) !== undefined
    const digest = manifest?.digest
    recorded.set(key, { file, digest, validIn, pipeId: remote?.id, isAwaiting, endpointOf })
  }
  return recorded
}

function lastUpserts(records: readonly LedgerRecord[]): ReadonlySet<Key> {
  const last = new Map<string, { readonly key: Key; readonly at: number }>()
  for (const { key, upsert, service, applied } of records) {
    if (upsert === undefined || service === undefined) continue
    const endpoint = `${kindOf(key)} ${serviceIdentity(service)}`
    // An upsert clears `applied` of all other keys. Times can be wrong: a clock can be set back.
    const at = applied === undefined ? upsert.at - Number.MAX_SAFE_INTEGER : upsert.at
    if ((last.get(endpoint)?.at ?? -Infinity) < at) last.set(endpoint, { key, at })
  }
  return new Set(last.values().map(({ key }) => key))
}

/** Counts pipes whose id is in no Lock. 0 without a Lock. */
export function pipesWithoutLock(store: Pick<StateStore, 'catalog' | 'records'>): number {
  const locks = store.catalog?.locks
  if (locks === undefined || locks.size === 0) return 0
  let count = 0
  for (const { key, remote } of store.records()) {
    if (!isLockable(key) || !isUuid(remote?.id)) continue
    if (!sameId(remote?.id, locks.get(key))) count += 1
  }
  return count
}
