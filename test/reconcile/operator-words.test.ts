import { expect, test } from 'vitest'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { nothingToResolve } from '../../src/reconcile/operator/operator.ts'
import { intent, recordedPipe } from '../plan/inputs.ts'

const seen = { what: 'a reply', at: 0 } as NonNullable<ReturnType<typeof intent>['seen']> // the rest is not told
const ATTEMPT = 'attempt 1 \\(intent 3333.*\\)'

test.each<[string, Partial<LedgerRecord>, string]>([
  ['that is not recorded', { version: 0 }, 'the ledger has no record of it\\.'],
  ['that has a pipe', { remote: recordedPipe('p-1') }, 'it has pipe p-1, created at 2026-11-21T11:00:00Z\\.'],
  ['that was never created', { intent: undefined }, 'no create was ever sent for it\\.'],
  [
    'that a person settled',
    { intent: intent('dismissed') },
    `${ATTEMPT} was already resolved\\. Pipewright sends the create again automatically\\.`,
  ],
  [
    'that was settled by what was seen',
    { intent: { ...intent('dismissed'), seen } },
    `${ATTEMPT} was already resolved: a reply\\. Pipewright sends`,
  ],
  [
    'that failed',
    { intent: intent('failed') },
    `${ATTEMPT} created nothing\\. Pipewright sends the create again automatically\\.`,
  ],
  [
    'that was refused',
    { intent: { ...intent('failed'), seen } },
    `${ATTEMPT} created nothing \\(a reply\\)\\. Pipewright sends`,
  ],
])('there is nothing to resolve for a key %s', (_, changes, says) => {
  const record = { ...blankRecord('Pipe/orders'), version: 1, ...changes }
  expect(nothingToResolve(record)).toMatch(new RegExp(`^Pipe/orders has no create of .* outcome: ${says}`))
})
