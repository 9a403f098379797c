import { expect, test } from 'vitest'
import { type Ledger, LedgerConflict } from '../../src/contract/ledger.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { openMemoryLedger } from '../../src/ledger/open-sqlite-ledger.ts'
import { blankRecord } from '../../src/plan/record.ts'
import type { ReconcileContext } from '../../src/reconcile/context.ts'
import { retryCreate } from '../../src/reconcile/operator/resolve.ts'
import { syncStoreFromLedger } from '../../src/reconcile/state/record-io.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { intent } from '../plan/inputs.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/* Others write to the ledger, too. */

const ORDERS = 'Pipe/orders'
const clock = createFakeClock()

function opened() {
  const { ledger } = openMemoryLedger({ emit: () => undefined })
  return { ledger, store: createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock }) }
}

test('what others wrote or removed is caught up with, once, and nothing else', async () => {
  const { ledger, store } = opened()
  const removed = await ledger.swap(blankRecord('Pipe/removed'), [])
  for (const record of [removed, await ledger.swap(blankRecord('Pipe/same'), [])]) store.note(record)
  const written = await ledger.swap(blankRecord(ORDERS), [])
  await ledger.remove(removed, [])
  for (const key of [ORDERS, 'Pipe/removed', 'Pipe/same'] as const) ledger.toRead.set(key, {})
  expect(await syncStoreFromLedger({ ledger, store })).toEqual([ORDERS, 'Pipe/removed'])
  expect([store.record(ORDERS), store.record('Pipe/removed')]).toEqual([written, undefined])
  expect(ledger.toRead.size).toBe(0)
})

test('an answer that is older than what was written meanwhile takes nothing back', async () => {
  const { ledger, store } = opened()
  const first = await ledger.swap(blankRecord(ORDERS), [])
  const slow: Ledger = {
    ...ledger,
    async get(key) {
      const record = await ledger.get(key)
      store.note(await ledger.swap({ ...first, line: 7 }, []))
      ledger.toRead.set(key, {})
      return record
    },
  }
  ledger.toRead.set(ORDERS, {})
  await syncStoreFromLedger({ ledger: slow, store })
  expect(store.record(ORDERS)).toMatchObject({ line: 7, version: 2 })
  expect([...ledger.toRead.keys()], 'written during the read').toEqual([ORDERS])
})

test('a command whose record changes meanwhile is refused, and says to run it again', async () => {
  const { ledger, store } = opened()
  await ledger.swap({ ...blankRecord(ORDERS), intent: intent('unknown', { sendBy: 0, endBy: 0 }) }, [])
  const crowded: Ledger = {
    ...ledger,
    swap: ({ key, version }) => Promise.reject(new LedgerConflict(key, version)),
  }
  const context = { profile: DEFAULT, ledger: crowded, store, clock } as unknown as ReconcileContext // no more is asked for
  expect(await retryCreate(context, ORDERS, { force: false })).toMatchObject({
    result: 'refused',
    message: 'The record of Pipe/orders changed while this command ran. Run the command again.',
  })
})
