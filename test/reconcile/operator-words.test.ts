import type { ReconcileContext } from '../../src/reconcile/context.ts'
import { expect, test } from 'vitest'
import { blankRecord, type Intent, type LedgerRecord } from '../../src/plan/record.ts'
import { nothingToResolve, stillOnItsWay } from '../../src/reconcile/operator/operator.ts'
import { intent, recordedPipe } from '../plan/inputs.ts'

const seen = { what: 'a reply', at: 0 } as NonNullable<ReturnType<typeof intent>['seen']> // the rest is not told
const ATTEMPT = 'attempt 1 \\(intent 3333.*\\)'

const RESOLVED = `${ATTEMPT} was already resolved`
const AGAIN = 'Pipewright sends the create again automatically\\.'

test.each<[string, Partial<LedgerRecord>, string]>([
  ['that is not recorded', { version: 0 }, 'the ledger has no record of it\\.'],
  ['that has a pipe', { remote: recordedPipe('p-1') }, 'it has pipe p-1, created at 2026-11-21T11:00:00Z\\.'],
  ['that was never created', { intent: undefined }, 'no create was ever sent for it\\.'],
  ['that a person settled', { intent: intent('dismissed') }, `${RESOLVED}\\. ${AGAIN}`],
  ['settled by a reply', { intent: { ...intent('dismissed'), seen } }, `${RESOLVED}: a reply\\. ${AGAIN}`],
  ['that failed', { intent: intent('failed') }, `${ATTEMPT} created nothing\\. ${AGAIN}`],
  [
    'refused',
    { intent: { ...intent('failed'), seen } },
    `${ATTEMPT} created nothing \\(a reply\\)\\. ${AGAIN}`,
  ],
])('there is nothing to resolve for a key %s', (_, changes, says) => {
  const record = { ...blankRecord('Pipe/orders'), version: 1, ...changes }
  expect(nothingToResolve(record)).toMatch(new RegExp(`^Pipe/orders has no create of .* outcome: ${says}`))
})

test.each<[string, Partial<Intent>, number, string]>([
  ['its end is not known', { state: 'open' }, 15, 'the outcome, and the request might still be delivered.'],
  ['a proxy has it', { seen: { ...seen, proxy: 'http://p:1' } }, 15, 'http://p:1 might still pass it on.'],
  ['the network may deliver it', { seen }, 2, 'has ended, but the network might still deliver a part of it.'],
  ['the service may be late', { lastsMs: 60_000 }, 3, 'has ended, but the service might still carry it out.'],
])('a retry is too early while %s', (_, changes, minutes, says) => {
  const unknown = { ...intent('unknown'), ...changes }
  const at = (now: number) => {
    const context = { store: { steadyNow: () => now }, clock: { now: () => now } }
    return stillOnItsWay(context as ReconcileContext, 'Pipe/orders', unknown) // the rest is not asked for
  }
  const end = unknown.sendBy + minutes * 60_000
  expect(at(end - 1)).toContain(`${says} A second create now could make two pipes.`)
  expect(at(end)).toBeUndefined()
})
