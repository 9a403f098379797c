import { readRecord, historyEntry } from '../state/record-io.ts'
import { kindOf } from '../../kinds/key.ts'
import { isCreateOnce } from '../../kinds/lookup.ts'
import { sameId } from '../../lib/same-id.ts'
import { mightHaveResource } from '../../plan/gates.ts'
import type { DecideInput } from '../../plan/input.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { Assessment } from '../gather/assess.ts'
import { isOnlyOne, namedRecord, rivalOf } from '../gather/similar-records.ts'
import type { ReconcileContext } from '../context.ts'
import { LedgerConflict } from '../../contract/ledger.ts'
import { isSuspensionOver } from '../state/entry-policy.ts'
import type { OutcomeOutbox } from './outcome-outbox.ts'

/** The record of the orphan that the manifest names, or of the only orphan with this body. */
export function recordToMove(
  context: ReconcileContext,
  outbox: Pick<OutcomeOutbox, 'isBusy'>,
  assessment: Assessment,
): LedgerRecord | undefined {
  const { store } = context
  const { input, entry, service } = assessment
  const manifest = entry?.manifest
  const { recorded, desired } = input
  const isMovable = ({ key }: LedgerRecord) => store.desiredState(key) === 'absent' && !outbox.isBusy(key)
  if (input.lifecycle === 'upsert' && service.usable && desired.state === 'valid') {
    const { serviceId } = service.identity
    return recorded.upsert !== undefined
      ? undefined
      : [...store.records()].find((other) => isSameUpsert(other, input, serviceId) && isMovable(other))
  }
  if (
    manifest === undefined ||
    !isCreateOnce(manifest) ||
    desired.state !== 'valid' ||
    mightHaveResource(recorded)
  )
    return undefined
  const named = namedRecord(store, { manifest, desired }, recorded)?.record
  if (named !== undefined)
    return isMovable(named) && rivalOf(store, recorded.key, store.successors(named.key)) === undefined
      ? named
      : undefined
  const { similar, lockedId } = input.surroundings
  // A manifest that adopts, also by a Lock, or deletes gets only the record that it names.
  const { adopt = lockedId, ensure } = manifest.policy ?? {}
  if (adopt !== undefined || ensure === 'absent' || similar?.isSame !== true) return undefined
  const same = store.record(similar.key)
  const isFree = same !== undefined && isMovable(same) && isOnlyOne(store, { manifest, desired, service })
  return isFree ? same : undefined
}

function isSameUpsert(other: LedgerRecord, { desired }: DecideInput, serviceId: string): boolean {
  return (
    kindOf(other.key) === kindOf(desired.key) &&
    sameId(other.service?.serviceId, serviceId) &&
    other.applied?.digest === (desired.fingerprint?.digest ?? '')
  )
}

export async function moveRecord(
  context: ReconcileContext,
  from: LedgerRecord,
  to: LedgerRecord,
): Promise<void> {
  const commanded = [to, from].find(
    (one) => one.suspension !== undefined && !isSuspensionOver(context.store, one),
  )
  // A pending deletion moves, too. The new manifest decides whether it continues.
  const moved: LedgerRecord = {
    ...from,
    key: to.key,
    version: to.version,
    file: to.file,
    line: to.line,
    suspension: commanded?.suspension,
    conditions: undefined,
  }
  const because = { reason: 'Adopted', facts: { from: from.key, to: to.key } } as const
  const entry = historyEntry(context, to.key, { action: 'move', because })
  let record: LedgerRecord
  try {
    record = await context.ledger.move(from, moved, [entry])
  } catch (error) {
    // Reads the record, because an outdated one would conflict again.
    if (error instanceof LedgerConflict) await readRecord(context, from.key)
    throw error
  }
  const seen = context.store.observation(from.key)
  context.store.drop(from.key)
  context.store.note(record)
  if (seen !== undefined) context.store.noteObservation(to.key, seen)
  // The last write of the old key counts for the new key: earlier lists are outdated.
  context.store.lastWrites.move(from.key, to.key)
  context.emit({ type: 'Forgotten', key: from.key })
}
