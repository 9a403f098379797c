import { kindOf, type Key } from '../../kinds/key.ts'
import { serviceKey } from '../../kinds/service/kind.ts'
import { sameId } from '../../lib/same-id.ts'
import type { Desired, RemovalFacts } from '../../plan/input.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { StateStore } from '../state/store.ts'
import { desiredService, recordedAccess, type DesiredService } from './service-access.ts'

/** What bears on the deletion of what was applied; undefined: its manifest is not gone, or did not ask for that. */
export function removalFacts(
  store: StateStore,
  { state }: Pick<Desired, 'state'>,
  { recorded, service }: { readonly recorded: LedgerRecord; readonly service: DesiredService },
): RemovalFacts | undefined {
  if (state !== 'absent' || recorded.onRemove !== 'delete' || recorded.upsert === undefined) return undefined
  return { ...heldForAll(store, recorded, service), beside: appliedBeside(store, recorded) }
}

/** What bears on the deletion of everything in a service. */
export function heldForAll(
  store: StateStore,
  recorded: LedgerRecord,
  service: DesiredService,
): Omit<RemovalFacts, 'beside'> {
  const access = recordedAccess(store, recorded, service)
  return {
    doubt: doubtOf(store),
    // What its manifest says while it has errors, or while it is not found, may be no longer so.
    isReachable: access !== undefined && store.entry(serviceKey(access.name))?.state === 'valid',
    unread: store.catalog?.unread ?? [],
  }
}

/** Another one of the same service, by its manifest or by what was done for it. What nobody can read may be one. */
export function appliedBeside(store: StateStore, { key, service }: LedgerRecord): Key | undefined {
  const isOther = (other: Key) => other !== key && kindOf(other) === kindOf(key)
  for (const { key: other, manifest } of store.catalog?.entries.values() ?? []) {
    if (!isOther(other)) continue
    const wanted = desiredService(store, manifest)
    if (!wanted.usable || sameId(wanted.identity.serviceId, service?.serviceId)) return other
  }
  for (const record of store.records())
    if (isOther(record.key) && record.upsert !== undefined)
      if (sameId(record.service?.serviceId, service?.serviceId)) return record.key
  return undefined
}

/** Why what is not found may be there all the same. */
function doubtOf({ catalog, olderThan }: StateStore): RemovalFacts['doubt'] {
  if (olderThan !== undefined) return 'older'
  return catalog?.problem === undefined ? undefined : 'doubted'
}
