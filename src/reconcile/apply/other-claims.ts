import { capital, nounOf } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { sameId } from '../../lib/same-id.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { Fingerprint, LedgerRecord, ServiceIdentity } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import { newsIn } from '../state/journal.ts'
import { isUnclaimed, type StateStore } from '../state/store.ts'

/* Other keys that own a pipe or might have created it. */

/** As {@link heldElsewhere}, including writes of other processes. */
export async function heldMeanwhile(
  context: Pick<ReconcileContext, 'ledger' | 'store'>,
  pipeId: string,
  but: Key,
): Promise<string | undefined> {
  const holder = (await newsIn(context)).find(({ key, remote }) => key !== but && sameId(remote?.id, pipeId))
  return holder && `${capital(nounOf(but))} ${pipeId} already belongs to ${holder.key}.`
}

interface Wanted {
  readonly recorded: LedgerRecord
  readonly service: ServiceIdentity
  readonly fingerprint: Fingerprint
}

/** An unknown create has priority for a pipe of its name. */
export function awaitedElsewhere(
  store: StateStore,
  { recorded: { key }, service, fingerprint }: Wanted,
  { id, name }: RemoteResource,
): string | undefined {
  if (typeof name !== 'string') return undefined
  const { serviceId } = service
  const other = store
    .similarTo({ key, serviceId, platformName: name, fingerprint })
    .find(
      (record) =>
        undecidedIntent(record) !== undefined &&
        record.platformName === name &&
        sameId(record.service?.serviceId, serviceId) &&
        !isUnclaimed(store.desiredState(record.key)),
    )
  return (
    other &&
    `${capital(nounOf(key))} ${id} may be the one of ${other.key}: it has that name, and what became of the creation is not known there. ` +
      `Settle that first, with "pipewright resolve ${other.key}".`
  )
}

export function heldElsewhere(store: StateStore, pipeId: string, but: Key): string | undefined {
  const key = store.holderOf(pipeId, but) ?? store.claimantOf(pipeId, but)
  if (key === undefined) return undefined
  const held = `${capital(nounOf(but))} ${pipeId} already belongs to ${key}.`
  if (!isUnclaimed(store.desiredState(key))) return held
  const command = `pipewright forget ${key}`
  return `${held} ${key} has no manifest any more. If ${but} is its new name, run "${command}"; then the ${nounOf(but)} can be adopted.`
}
