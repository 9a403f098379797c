import { expect, test } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import { acceptKubernetesLedger } from '../../src/ledger/kubernetes/ledger-rollback.ts'
import { archiveText } from '../../src/ledger/archive.ts'
import { exportLedger, importLedger } from '../../src/ledger/open.ts'
import { blank, ignore, ORDERS } from '../ledger/samples.ts'
import { until } from '../support/until.ts'
import { modelForEach } from './model-for-each.ts'
import { refusal } from './open-at.ts'

/* Objects with the name or label of a ledger that are none of its records: copies, and what was made or edited by hand. */

const RECORDS = '/apis/pipewright.dev/v1/namespaces/default/pipewrightrecords'

const never = new AbortController().signal

const model = modelForEach()
const OPTIONS = { clock: model.clock, emit: ignore }
const { open, pathOf } = model

/** @param name also of an object that is there: it is replaced */
async function write(name: string, members: object, ledger = 'ledger'): Promise<void> {
  const there = model.api.objects().get(`${RECORDS}/${name}`)
  const metadata = there?.['metadata'] ?? { name, labels: { 'pipewright.dev/ledger': ledger } }
  const { status } = await fetch(`${model.api.url}${RECORDS}${there === undefined ? '' : `/${name}`}`, {
    method: there === undefined ? 'POST' : 'PUT',
    headers: { authorization: `Bearer ${model.api.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata, ...members }),
  })
  expect(status).toBeLessThan(300)
}

test.each([
  ['without a key', { version: 3 }],
  ['with a key that is none', { key: 'nonsense', version: 3 }],
  ['with a key that is no text', { key: 7, version: 3 }],
])('an object %s keeps no process from starting and acting, and is said', async (_, members) => {
  await (await open()).ledger.swap(blank(ORDERS), [])
  await write('ledger.garbage', members)
  const said: Event[] = []
  const { ledger, leadership } = await open({ emit: (event) => void said.push(event) })
  await leadership.acquire(never, 'wait')
  await ledger.assertCanSettle()
  expect(said).toMatchObject([
    {
      result: 'ignored',
      message:
        'the PipewrightRecord ledger.garbage is ignored, because it is no record of the ledger ledger: it has no key, such as Pipe/orders. ' +
        'If Pipewright wrote this object and a user edited it, restore it from a backup. If the object is a copy, or from another program, delete it.',
    },
  ])
})

test('where there is nothing else, a ledger begins', async () => {
  await write('ledger.garbage', { key: 'nonsense', version: 3 })
  const { ledger } = await open()
  expect((await ledger.swap(blank(ORDERS), [])).version).toBe(1)
})

test('a key gets its record once the object that has its name is deleted', async () => {
  const { ledger } = await open()
  await write('ledger.pipe.z', { key: ORDERS, version: 3 })
  await expect(ledger.swap(blank('Pipe/z'), [])).rejects.toMatchObject({ name: 'LedgerError' })
  await fetch(`${model.api.url}${RECORDS}/ledger.pipe.z`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${model.api.token}` },
    body: '{}',
  })
  expect((await ledger.swap(blank('Pipe/z'), [])).version).toBe(1)
})

test('a record that somebody makes something else of is lost: no resource is created, by whoever acts then or later', async () => {
  const one = await open()
  const term = await one.leadership.acquire(never, 'wait')
  await one.ledger.swap(blank('Pipe/a'), [])
  await one.ledger.swap(blank(ORDERS), [])
  await term.confirm()
  await write('ledger.pipe.orders', { key: 'Pipe/other', version: 9 })
  const words = 'the record of Pipe/orders is gone'
  await until('that it is noticed', async () => (await refusal(one))?.includes(words))
  await term.release()
  await one.ledger[Symbol.asyncDispose]()
  const next = await open()
  await next.leadership.acquire(never, 'wait')
  expect(await refusal(next)).toContain('was rolled back to an earlier state')
})

test('a record that lost its label is still one, for whoever acts, reads or exports, and gets it back', async () => {
  const one = await open()
  const term = await one.leadership.acquire(never, 'wait')
  await one.ledger.swap(blank(ORDERS), [])
  await term.confirm()
  const path = pathOf('pipe.orders')
  const there = model.api.objects().get(path) as { readonly metadata: object }
  await write('ledger.pipe.orders', { ...there, metadata: { ...there.metadata, labels: {} } })
  await write('other.pipe.orders', { ...there, metadata: { name: 'other.pipe.orders' } }, 'other')
  await term.release()
  const next = await open()
  await next.leadership.acquire(never, 'wait')
  for (const each of [one, next]) expect(await refusal(each)).toBeUndefined()
  const { records } = await exportLedger('kubernetes:ledger', OPTIONS)
  expect(records.map(({ key }) => key)).toEqual([ORDERS])
  await next.ledger.swap((await next.ledger.get(ORDERS)) ?? blank(ORDERS), [])
  expect(model.api.objects().get(path)).toMatchObject({
    version: 2,
    metadata: { labels: { 'pipewright.dev/ledger': 'ledger' } },
  })
})

test('the versions of what is ignored do not make up for writes that are lost', async () => {
  const one = await open()
  const term = await one.leadership.acquire(never, 'wait')
  const first = await one.ledger.swap(blank(ORDERS), [])
  const path = pathOf('pipe.orders')
  const before = model.api.objects().get(path)
  await one.ledger.swap(first, [])
  await term.confirm()
  await term.release()
  await one.ledger[Symbol.asyncDispose]()
  model.put(path, before)
  await write('ledger.garbage', { key: 'Pipe/z', version: 50 })
  const next = await open()
  await next.leadership.acquire(never, 'wait')
  const words = 'should show 2 writes, and show only 1'
  expect(await refusal(next)).toContain(words)
  const place = { place: 'ledger', env: process.env, clock: model.clock }
  expect(await acceptKubernetesLedger(place)).toContain(words)
})

test('an export holds nothing of it, and an import goes beside it', async () => {
  const { ledger } = await open()
  await ledger.swap(blank(ORDERS), [])
  await write('ledger.garbage', { key: 'nonsense', version: 3 })
  await write('ledger.pipe.z', { key: ORDERS, version: 50, record: '{}' })
  const archive = await exportLedger('kubernetes:ledger', OPTIONS)
  expect(archive.records.map(({ key, version }) => [key, version])).toEqual([[ORDERS, 1]])
  await write('trash', { key: 'nonsense', version: 3 }, 'copy')
  await importLedger('kubernetes:copy', archive, OPTIONS)
  expect(await exportLedger('kubernetes:copy', OPTIONS)).toStrictEqual(archive)
  await write('third.pipe.orders', { key: 'nonsense', version: 3 }, 'third')
  await expect(importLedger('kubernetes:third', archive, OPTIONS)).rejects.toThrow(
    'third.pipe.orders is ignored',
  )
})

test('an export with a record that somebody has broken fails, and names it', async () => {
  const { ledger } = await open()
  await ledger.swap(blank(ORDERS), [])
  await write(pathOf('pipe.orders').slice(RECORDS.length + 1), {
    key: ORDERS,
    version: 1,
    record: 'not JSON',
  })
  await expect(exportLedger('kubernetes:ledger', OPTIONS).then(archiveText)).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringContaining(`the record of ${ORDERS} in the ledger cannot be read`),
  })
})

test('a record at another version than its object is corrupt', async () => {
  await (await open()).ledger.swap(blank(ORDERS), [])
  const path = pathOf('pipe.orders')
  model.put(path, { ...model.api.objects().get(path), version: 2 })
  const { ledger } = await open({ mode: 'reader' })
  await expect(ledger.list()).rejects.toMatchObject({ code: 'corrupt' })
})
