import type { Key } from '../../kinds/key.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { sameId } from '../../lib/same-id.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { FactsOf } from '../../plan/reason.ts'
import type { Fingerprint, LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import { isUnclaimed, type StateStore } from '../state/store.ts'

/** Another key whose record has or had the pipe, including records that other processes wrote. */
export async function recordedHolder(
  { ledger, store }: Pick<ReconcileContext, 'ledger' | 'store'>,
  pipeId: string,
  but: Key,
): Promise<Key | undefined> {
  for (const key of ledger.toRead.keys()) {
    const { remote, former } = (key === but ? undefined : await ledger.get(key)) ?? {}
    if (sameId((remote ?? former?.remote)?.id, pipeId)) return key
  }
  const known = store.holderOf(pipeId, but)
  return known !== undefined && ledger.toRead.has(known) ? undefined : known
}

/** @returns why not to adopt: another key's create of unknown outcome might have made this pipe */
export function mightBelongToOpenCreate(
  store: StateStore,
  wanted: {
    readonly recorded: LedgerRecord
    readonly service: ServiceIdentity
    readonly fingerprint: Fingerprint
  },
  { id, name }: RemoteResource,
): FactsOf<'AdoptRefused'> | undefined {
  if (typeof name !== 'string') return undefined
  const { recorded, service, fingerprint } = wanted
  const { serviceId } = service
  const other = store
    .similarTo({ key: recorded.key, serviceId, platformName: name, fingerprint })
    .find(
      (record) =>
        undecidedIntent(record) !== undefined &&
        record.platformName === name &&
        sameId(record.service?.serviceId, serviceId) &&
        !isUnclaimed(store.desiredState(record.key)),
    )
  return other && { is: 'perhaps of', pipeId: id, other: other.key }
}

export function ownedByOtherKey(
  store: StateStore,
  pipeId: string,
  but: Key,
): FactsOf<'AdoptRefused'> | undefined {
  const by = store.holderOf(pipeId, but) ?? store.claimantOf(pipeId, but)
  return by && { is: 'held', pipeId, by, isOrphan: isUnclaimed(store.desiredState(by)) }
}
