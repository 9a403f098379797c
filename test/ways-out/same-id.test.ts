import { expect, test } from 'vitest'
import { decide } from '../../src/plan/decide.ts'
import { blankRecord, type Intent, type LedgerRecord } from '../../src/plan/record.ts'
import { FIELDS, FOUND, HOUR, NOW, pipe } from '../plan/inputs.ts'

/** With letters, as those of the other tests have none. */
const ID = 'abcdef00-aaaa-4bbb-8ccc-abcdef012345'

const INTENT: Intent = {
  id: ID,
  attempt: 1,
  reason: 'New',
  requestDigest: 'x',
  revision: 'r',
  openedAt: NOW - HOUR,
  sendBy: NOW - HOUR,
  endBy: NOW - HOUR,
  state: 'unknown',
  seen: undefined,
  saidEarlyAt: undefined,
}

const created: LedgerRecord = {
  ...blankRecord('Pipe/orders'),
  version: 1,
  applied: FIELDS,
  remote: {
    id: ID,
    origin: 'adopted',
    at: 0,
    revision: 'r',
    requestId: undefined,
    seenAt: 0,
    saidGoneAt: undefined,
    refutedAt: undefined,
  },
}

test.each([
  [
    'an adopt that is done stays without effect',
    pipe({ recorded: created, observed: FOUND, policy: { adopt: ID.toUpperCase() } }),
    'InSync',
  ],
  [
    'an approval is of the attempt that it names',
    pipe({
      recorded: { ...blankRecord('Pipe/orders'), version: 1, intent: INTENT },
      policy: { retryCreate: ID.toUpperCase() },
    }),
    'RetryApproved',
  ],
])('an id in capitals is the same id: %s', (_, input, reason) => {
  expect(decide(input).reason).toBe(reason)
})
