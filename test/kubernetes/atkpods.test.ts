import { expect, test } from 'vitest'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { syncStoreFromLedger } from '../../src/reconcile/state/record-io.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { forgetKey } from '../../src/reconcile/operator/operate.ts'
import { blank } from '../ledger/samples.ts'
import { given } from '../reconcile/given.ts'
import { pipe } from '../reconcile/manifests.ts'
import { until } from '../support/until.ts'
import { isOf, modelForEach } from './model-for-each.ts'

const never = new AbortController().signal
const model = modelForEach()
const { open, pathOf } = model

test('a Lease whose every write meets a conflict, although it does not change, is not renewed without end', async () => {
  const { leadership, ledger } = await open({ leaseMs: 60_000 })
  const term = await leadership.acquire(never, 'wait')
  let puts = 0
  model.api.interfere((asked) =>
    isOf(asked, 'PUT', '/leases/') && (puts += 1) < 200 ? { status: 409 } : undefined,
  )
  await expect(term.confirm()).rejects.toMatchObject({ isOver: false })
  expect(puts).toBeLessThan(20)
  await expect(ledger.assertCanSettle()).rejects.toThrow('the Lease cannot be renewed')
  model.api.interfere(undefined)
  await term.confirm()
})

test('a record that cannot be read keeps no process from hearing of the others', async () => {
  const [one, other] = [await open(), await open()]
  const store = createStateStore({ profile: DEFAULT, hashKey: other.ledger.hashKey, clock: model.clock })
  await one.ledger.swap(blank('Pipe/a'), [])
  const second = await one.ledger.swap(blank('Pipe/b'), [])
  await until('both', async () => (await other.ledger.list()).length === 2)
  await syncStoreFromLedger({ ledger: other.ledger, store })
  const path = pathOf('pipe.a')
  const object = { ...model.api.objects().get(path), version: 2, record: 'not JSON' }
  const headers = { authorization: `Bearer ${model.api.token}`, 'content-type': 'application/json' }
  await fetch(`${model.api.url}${path}`, { method: 'PUT', headers, body: JSON.stringify(object) })
  await one.ledger.swap({ ...second, line: 7 }, [])
  await until('both writes', () => other.ledger.toRead.has('Pipe/a') && other.ledger.toRead.has('Pipe/b'))
  await syncStoreFromLedger({ ledger: other.ledger, store }).catch(() => undefined)
  expect(store.record('Pipe/b')?.line).toBe(7)
})

test('forget in a stale checkout blames the checkout, not unreadable files', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await world.go('Pipe/orders')
  world.around.directory.files.delete('orders.yaml')
  const next = await given({}, { around: world.around, olderThan: () => 'r2' })
  next.readAgain()
  const { result, message } = await forgetKey(next.context, 'Pipe/orders')
  expect(result).toBe('refused')
  expect(message).not.toContain('unreadable files')
  expect(message).toContain('another process acted on revision r2')
})
