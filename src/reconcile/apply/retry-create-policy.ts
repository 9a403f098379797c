import { historyEntry, saveRecord } from '../state/record-io.ts'
import { sameId } from '../../lib/same-id.ts'
import { leftMs, retryFrom, undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { dismissIntent, noteEarlyRetryCreate } from '../../plan/transitions.ts'
import type { ReconcileContext } from '../context.ts'
import { isLeftAlone } from '../state/entry-policy.ts'

/**
 * With `policy.retryCreate`, a person says that the last attempt created no resource. The policy does not
 * count if it was first read while the request could still arrive, or in a possibly stale checkout.
 */
export async function applyRetryCreatePolicy(
  context: ReconcileContext,
  record: LedgerRecord,
): Promise<LedgerRecord> {
  const { store, clock } = context
  const intent = undecidedIntent(record)
  const entry = store.entry(record.key)
  if (intent === undefined || entry?.manifest === undefined) return record
  const now = clock.now()
  const isOlder = store.olderThan !== undefined
  const isSaid = sameId(entry.manifest.policy?.retryCreate, intent.id)
  const left = leftMs(intent, retryFrom(intent), { now, steadyNow: store.steadyNow() })
  const isEarly = isSaid && (intent.saidEarlyAt !== undefined || left > 0)
  if (!isSaid || isEarly) {
    const readAt = isEarly ? (intent.saidEarlyAt ?? now) : undefined
    if (readAt === intent.saidEarlyAt || (isOlder && readAt === undefined)) return record
    return saveRecord(context, noteEarlyRetryCreate(record, intent, readAt))
  }
  if (isOlder || entry.state !== 'valid' || isLeftAlone(entry, now)) return record
  const said = historyEntry(context, record.key, {
    action: 'intent',
    because: { reason: 'New', facts: { is: 'settled', attempt: intent.attempt } },
    result: 'failed',
    intentId: intent.id,
    requestId: intent.seen?.requestId,
  })
  return saveRecord(context, dismissIntent(record, intent, { now, found: 'created nothing' }), [said])
}
