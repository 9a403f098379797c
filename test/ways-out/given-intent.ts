import type { Ledger } from '../../src/contract/ledger.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { blankRecord, type LedgerRecord, type Seen } from '../../src/plan/record.ts'
import { openIntent } from '../../src/plan/transitions.ts'
import { createOutcomeOutbox, type CreateEnd } from '../../src/reconcile/apply/outcome-outbox.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { recordedPipe } from '../plan/inputs.ts'

export const KEY = 'Pipe/orders'
export const PIPE = recordedPipe('pipe-1', { seenAt: undefined })
export const CREATED: CreateEnd = { type: 'created', remote: PIPE }
export const SEEN: Seen = {
  at: 1,
  httpStatus: undefined,
  requestId: undefined,
  what: 'a cut',
  pipeId: undefined,
}
export const UNKNOWN: CreateEnd = { type: 'unknown', seen: SEEN }

/** @param before at the version that it has in the ledger */
export function withIntent(before: LedgerRecord, intentId: string): LedgerRecord {
  return openIntent(before, {
    intentId,
    reason: 'New',
    requestDigest: 'x',
    revision: 'r',
    service: { name: 's', organizationId: 'o', serviceId: 'i' },
    platformName: 'orders',
    fingerprint: { digest: 'd', fields: {}, secrets: {} },
    replaces: before.remote?.id,
    now: 1,
    sendBy: 1,
    endBy: 1,
    isAllowed: false,
  })
}

/** A create is under way. @param before the record of the key, as it is in the ledger */
export async function givenIntent(ledger: Ledger, before = blankRecord(KEY)) {
  const clock = createFakeClock()
  const opened = await ledger.swap(withIntent(before, 'intent-1'), [])
  const { intent } = opened
  if (intent === undefined) throw new Error('an opened record has an intent')
  const store = createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock })
  return { clock, opened, intent, outbox: createOutcomeOutbox({ ledger, clock, store }) }
}
