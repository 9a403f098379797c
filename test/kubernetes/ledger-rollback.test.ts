import { expect, test } from 'vitest'
import { sleep } from '../../src/lib/clock.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { LedgerConflict } from '../../src/contract/ledger.ts'
import type { Key } from '../../src/kinds/key.ts'
import { acceptKubernetesLedger, recordRollback } from '../../src/ledger/kubernetes/ledger-rollback.ts'
import type { Kept } from '../../src/ledger/kubernetes/record-object.ts'
import { blank, ORDERS } from '../ledger/samples.ts'
import { until } from '../support/until.ts'
import { isOf, modelForEach } from './model-for-each.ts'
import { refusal, writeKubeconfig } from './open-at.ts'

/* Records that were rolled back, by a restore of etcd or by hand: pipes created since are not in them. */

const never = new AbortController().signal

const model = modelForEach()
const { open, pathOf, put } = model

async function accept(): Promise<string | undefined> {
  const place = {
    place: 'ledger',
    env: { KUBECONFIG: writeKubeconfig(model.api, model.workspace) },
    clock: model.clock,
  }
  return acceptKubernetesLedger(place)
}

function secretNow(): { readonly data: JsonObject } {
  return model.api.objects().get(pathOf('/secrets/')) as { readonly data: JsonObject }
}

/** Of the Secret, as text. */
function member(name: string): string | undefined {
  const text = secretNow().data[name]
  return typeof text === 'string' ? Buffer.from(text, 'base64').toString() : undefined
}

function withMember(name: string, value: string | Buffer): object {
  const secret = secretNow()
  return { ...secret, data: { ...secret.data, [name]: Buffer.from(value).toString('base64') } }
}

/** A process acts, writes a record, and ends. @returns puts the record back to what it was before its last write, by hand */
async function writtenTwice(): Promise<() => void> {
  const one = await open()
  const term = await one.leadership.acquire(never, 'wait')
  const first = await one.ledger.swap(blank(ORDERS), [])
  const path = pathOf('pipewrightrecords')
  const before = model.api.objects().get(path)
  await one.ledger.swap({ ...first, line: 7 }, [])
  await term.confirm()
  await term.release()
  await one.ledger[Symbol.asyncDispose]()
  return () => put(path, before)
}

test('while a process works with them: no resource is created, by it or by whoever starts after, until a person accepts it', async () => {
  const told: string[] = []
  const one = await open({ emit: ({ type }) => void told.push(type) })
  const first = await one.ledger.swap(blank(ORDERS), [])
  const back = model.api.snapshot()
  await one.ledger.swap({ ...first, line: 7 }, [])
  expect(await refusal(one)).toBeUndefined()
  back()
  const said = await until('that it is noticed', () => refusal(one))
  expect(said).toContain(
    'was rolled back to an earlier state: the record of Pipe/orders was at version 2, and is at 1',
  )
  await until('that the Secret says it', () => model.api.writes.some((write) => write.includes('/secrets/')))
  await until('that it is told', () => told.includes('LedgerRolledBack'))
  await one.ledger[Symbol.asyncDispose]()
  expect(told.filter((type) => type === 'LedgerRolledBack')).toHaveLength(1)
  const next = await open()
  expect(await refusal(next)).toBe(said)
  expect(await accept()).toContain('the record of Pipe/orders')
  expect(await refusal(next)).toBeUndefined()
  expect(await accept()).toBeUndefined()
})

test('to before the last takeover: the Lease says it', async () => {
  const zero = await open()
  await (await zero.leadership.acquire(never, 'wait')).release()
  const back = model.api.snapshot()
  const one = await open()
  const term = await one.leadership.acquire(never, 'wait')
  back()
  // The API has been written to since.
  const lease = model.api.objects().get(pathOf('/leases/')) as { readonly metadata: JsonObject }
  put(pathOf('/leases/'), { ...lease, metadata: { ...lease.metadata, resourceVersion: '1000' } })
  await until('that it is over', () => term.over.aborted)
  expect(await refusal(one)).toContain('the Lease is at an earlier version than before')
  await one.ledger[Symbol.asyncDispose]()
  expect(await refusal(await open())).toContain('was rolled back')
})

test('it is accepted before a process has noticed it, also while the Lease is renewed, and not tried for ever', async () => {
  const back = await writtenTwice()
  back()
  let puts = 0
  const answer = (status: number, times: number) => {
    puts = 0
    model.api.interfere(({ method, path }) =>
      method === 'PUT' && path.includes('/leases/') && (puts += 1) <= times ? { status } : undefined,
    )
  }
  answer(403, 1)
  await expect(accept()).rejects.toThrow('403')
  expect(puts).toBe(1)
  answer(409, 99)
  await expect(accept()).rejects.toThrow('409')
  expect(puts).toBe(20)
  answer(409, 2)
  expect(await accept()).toContain('show only 1')
  expect(await accept()).toBeUndefined()
  expect(puts).toBe(3)
  const next = await open()
  await next.leadership.acquire(never, 'wait')
  expect(await refusal(next)).toBeUndefined()
})

test('while no process works with them, and the first one that takes over dies before it has said so: the next one notices it', async () => {
  const back = await writtenTwice()
  back()
  const next = await open()
  model.api.interfere(({ method, path }) =>
    method === 'PUT' && path.includes('/secrets/') ? 'cut' : undefined,
  )
  const giveUp = new AbortController()
  const acting = next.leadership.acquire(giveUp.signal, 'wait').catch(() => undefined)
  await until('the Lease', () =>
    JSON.stringify(model.api.objects().get(pathOf('/leases/'))).includes('"leaseTransitions":2'),
  )
  model.api.interfere(() => 'cut')
  giveUp.abort()
  await next.ledger[Symbol.asyncDispose]()
  await acting
  model.api.interfere(undefined)
  const last = await open()
  await last.leadership.acquire(never, 'wait')
  expect(await refusal(last)).toContain('its records should show 2 writes')
})

test('records as they were are no rollback, whoever takes over', async () => {
  await writtenTwice()
  for (let takeovers = 0; takeovers < 3; takeovers += 1) {
    const next = await open()
    const term = await next.leadership.acquire(never, 'wait')
    const record = await next.ledger.get(ORDERS)
    if (record === undefined) throw new Error('it is gone')
    await next.ledger.move(record, { ...record, key: 'Pipe/other', version: 0 }, [])
    const moved = await next.ledger.get('Pipe/other')
    if (moved === undefined) throw new Error('it did not arrive')
    await next.ledger.move(moved, { ...moved, key: ORDERS, version: 0 }, [])
    expect(await refusal(next)).toBeUndefined()
    await term.release()
    await next.ledger[Symbol.asyncDispose]()
  }
})

test('what one process has noticed, another one that acts knows at its next create', async () => {
  const [one, other] = [await open(), await open()]
  await other.leadership.acquire(never, 'wait')
  expect(await refusal(other)).toBeUndefined()
  model.api.interfere((asked) => (asked.query.get('watch') === '1' ? 'cut' : undefined))
  model.api.cutWatches()
  const record = await one.ledger.swap(blank(ORDERS), [])
  const path = pathOf('/secrets/')
  const secret = model.api.objects().get(path)
  put(pathOf('pipewrightrecords'), undefined)
  await expect(one.ledger.swap(record, [])).rejects.toThrow(LedgerConflict)
  expect(await one.ledger.list()).toEqual([])
  await until('that it is written down', () => model.api.objects().get(path) !== secret)
  expect(await refusal(other)).toContain('the record of Pipe/orders is gone')
})

test('of the Lease too, within a term: its holder notices it', async () => {
  const one = await open()
  const term = await one.leadership.acquire(never, 'wait')
  const first = await one.ledger.swap(blank(ORDERS), [])
  const [lease, record] = [pathOf('/leases/'), pathOf('pipewrightrecords')]
  const before = [lease, record].map((path) => [path, model.api.objects().get(path)] as const)
  await one.ledger.swap({ ...first, line: 7 }, [])
  await term.confirm()
  for (const [path, object] of before) put(path, object)
  await term.confirm()
  expect(await refusal(one)).toContain('the Lease is at an earlier version than before')
})

test('a record whose write is refused after a rollback: that is noticed, without a word of the API', async () => {
  const one = await open()
  const first = await one.ledger.swap(blank(ORDERS), [])
  const path = pathOf('pipewrightrecords')
  const before = model.api.objects().get(path)
  const second = await one.ledger.swap({ ...first, line: 7 }, [])
  put(path, before)
  await expect(one.ledger.swap(second, [])).rejects.toThrow(LedgerConflict)
  expect(await refusal(one)).toContain('was at version 2, and is at 1')
})

test('one record that cannot be read is told, and keeps none of the others from being known', async () => {
  const told: string[] = []
  const [one, other] = [await open(), await open({ emit: (event) => void told.push(JSON.stringify(event)) })]
  await one.ledger.swap(blank(ORDERS), [])
  await until('the first', async () => (await other.ledger.list()).length === 1)
  const path = pathOf('pipewrightrecords')
  const object = model.api.objects().get(path) as { readonly metadata: JsonObject }
  model.api.interfere((asked) => (asked.query.get('watch') === '1' ? { status: 503 } : undefined))
  model.api.cutWatches()
  put(path, { ...object, version: 'none', metadata: { ...object.metadata, resourceVersion: '1000' } })
  await one.ledger.swap(blank('Pipe/zebra'), [])
  await until('the second', async () => (await other.ledger.list()).length === 2)
  expect(await refusal(other)).toBeUndefined()
  await until('that it is told', () => told.some((event) => event.includes('cannot be read')))
})

test('who only reads says it, and writes nothing', async () => {
  const back = await writtenTwice()
  back()
  const writes = model.api.writes.length
  const { ledger } = await open({ mode: 'reader' })
  expect(ledger.rollback).toContain('its records should show 2 writes')
  expect(model.api.writes.length).toBe(writes)
  await (await open()).leadership.acquire(never, 'wait')
  await until('that it is written down', () => member('setBacks') !== undefined)
  expect((await open({ mode: 'reader' })).ledger.rollback).toContain('its records should show 2 writes')
  await accept()
  expect((await open({ mode: 'reader' })).ledger.rollback).toBeUndefined()
})

test('an acceptance of an earlier rollback does not cover a later one', async () => {
  const one = await open()
  const lost = async (key: Key) => {
    const record = await one.ledger.swap(blank(key), [])
    put(pathOf(`pipewrightrecords/ledger.pipe.${key.slice(-1)}`), undefined)
    await expect(one.ledger.swap(record, [])).rejects.toThrow(LedgerConflict)
  }
  await lost('Pipe/a')
  await until('that it is written down', () => member('setBacks') === '1')
  await lost('Pipe/b')
  await until('that it is counted', () => member('setBacks') === '2')
  let isHeld = true
  const leases: string[] = []
  model.api.interfere(({ method, path }) => {
    if (path.includes('/leases/')) leases.push(method)
    if (method !== 'PUT' || !path.includes('/secrets/') || !isHeld) return undefined
    isHeld = false
    // While an operator accepts the first one.
    const secret = withMember('setBacks', '3') as { readonly metadata: JsonObject }
    put(pathOf('/secrets/'), { ...secret, metadata: { ...secret.metadata, resourceVersion: '1000' } })
    return undefined
  })
  await expect(accept()).rejects.toThrow('another rollback was detected meanwhile')
  expect(leases).toEqual([])
  expect(await refusal(one)).toContain('the record of Pipe/a is gone')
  expect(await accept()).toContain('the record of Pipe/a is gone')
  expect(await refusal(one)).toBeUndefined()
  await sleep(model.clock, 2_000, never)
  await lost('Pipe/c')
  await until('that the next one is written down', () => member('setBacks') === '4')
})

test('a rollback that is written down is open until an operator accepts it', async () => {
  await (await open()).ledger[Symbol.asyncDispose]()
  for (const [name, text] of [
    ['setBack', 'the record of Pipe/a is gone'],
    ['setBacks', '1'],
  ] as const)
    put(pathOf('/secrets/'), withMember(name, text))
  const one = await open()
  expect(await refusal(one)).toContain('the record of Pipe/a is gone')
  expect(await accept()).toBe('the record of Pipe/a is gone')
  expect(await refusal(one)).toBeUndefined()
})

function keptAs(of: { readonly version: number; readonly body: string }): Kept {
  return { ...of, key: ORDERS, movedFrom: undefined, before: undefined, movedTo: undefined, history: [] }
}

test.each([
  ['the same record', { version: 4, body: 'a' }, undefined],
  ['a later version', { version: 5, body: 'b' }, undefined],
  ['an earlier version', { version: 3, body: 'a' }, 'was at version 4, and is at 3'],
  ['another record at the same version', { version: 4, body: 'b' }, 'has another text at the same version 4'],
  ['no object', undefined, 'is gone'],
])('%s after version 4', (_, now, says) => {
  const what = recordRollback(keptAs({ version: 4, body: 'a' }), now && keptAs(now))
  expect(what).toBe(says && `the record of ${ORDERS} ${says}`)
})

test('a number that somebody has edited into a word is no sign that all is well, and can be accepted', async () => {
  const one = await open()
  put(pathOf('/secrets/'), withMember('setBacks', 'some'))
  expect(await refusal(one)).toContain('was rolled back to an earlier state')
  await accept()
  expect(await refusal(one)).toBeUndefined()
})

test('a Secret whose key is cut is refused', async () => {
  await open()
  put(pathOf('/secrets/'), withMember('hashKey', 'short'))
  await expect(open()).rejects.toMatchObject({ code: 'corrupt' })
})

test('without its Secret no resource is created, and what to do is said', async () => {
  const one = await open()
  put(pathOf('/secrets/'), undefined)
  expect(await refusal(one)).toContain('the Secret ledger of the ledger is gone: restore it from a backup')
  model.api.interfere(({ path }) => (path.includes('/secrets/') ? { status: 403 } : undefined))
  expect(await refusal(one)).toContain('403')
})

test('notes of ten thousand problems have room in the Secret', async () => {
  const { notes } = await open()
  const lines = Array.from(
    { length: 30_000 },
    (_, at) =>
      `"Pipe/orders-${at}": {"state": "Blocked Synced BadRequest", "status": "Blocked", "reason": "BadRequest"}`,
  )
  const note = `{${lines.join()}}`
  await notes?.write(note)
  expect(await notes?.read()).toBe(note)
  const size = JSON.stringify(model.api.objects().get(pathOf('/secrets/'))).length
  expect(size).toBeLessThan(1_000_000)
})

test('a note that somebody has edited is one that cannot be read, and no error', async () => {
  const { notes } = await open()
  await notes?.write('text')
  put(pathOf('/secrets/'), withMember('sentState', Buffer.from('AAAA', 'base64')))
  expect(await notes?.read()).toBe('')
})

test('together with the Secret that said so: it is not forgotten', async () => {
  const one = await open()
  await one.ledger.swap(blank(ORDERS), [])
  const path = pathOf('/secrets/')
  const before = model.api.objects().get(path)
  put(pathOf('pipewrightrecords'), undefined)
  model.api.cutWatches()
  await expect(one.ledger.swap({ ...blank(ORDERS), version: 1 }, [])).rejects.toThrow(LedgerConflict)
  await until('that it is written down', () => model.api.objects().get(path) !== before)
  expect(await refusal(one)).toContain('is gone')
  put(path, before)
  expect(await refusal(one)).toContain('rolled back to an earlier state')
  await until('that it can be accepted', async () => {
    await accept()
    return (await refusal(one)) === undefined
  })
})

test('a process that could not write it down tries once more before it ends', async () => {
  const one = await open()
  await one.ledger.swap(blank(ORDERS), [])
  const record = await one.ledger.swap(blank('Pipe/a'), [])
  put(pathOf('pipewrightrecords/ledger.pipe.a'), undefined)
  model.api.interfere((asked) => (isOf(asked, 'PUT', '/secrets/') ? 'cut' : undefined))
  await expect(one.ledger.swap(record, [])).rejects.toThrow(LedgerConflict)
  await until('that it fails', () => one.ledger.rollback?.includes('cannot be used'))
  model.api.interfere(undefined)
  await one.ledger[Symbol.asyncDispose]()
  expect(await refusal(await open())).toContain('the record of Pipe/a is gone')
})

test('a process that does not create hears that an operator has accepted it', async () => {
  const back = await writtenTwice()
  back()
  const opened = [await open(), await open()]
  await opened[0]?.leadership.acquire(never, 'wait')
  for (const { ledger } of opened) await until('that it is heard', () => refusal({ ledger }))
  await until('that it is written down', () => member('setBacks') !== undefined)
  opened.push(await open())
  await until('that it can be accepted', async () => {
    await accept()
    return member('accepted') !== undefined && member('accepted') === member('setBacks')
  })
  for (const { ledger } of opened)
    await expect.poll(() => ledger.rollback, { timeout: 10_000 }).toBeUndefined()
})

test('a process that was cut off while a rollback was accepted does not open it again, and notices the next one', async () => {
  const told: string[] = []
  const one = await open({ emit: ({ type }) => void told.push(type) })
  const first = await one.ledger.swap(blank(ORDERS), [])
  const path = pathOf('pipewrightrecords')
  const before = model.api.objects().get(path) as { readonly metadata: JsonObject }
  await one.ledger.swap({ ...first, line: 7 }, [])
  model.api.interfere(() => 'cut')
  model.api.cutWatches()
  put(path, { ...before, metadata: { ...before.metadata, resourceVersion: '900' } })
  for (const name of ['setBacks', 'accepted']) {
    const secret = withMember(name, '1') as { readonly metadata: JsonObject }
    put(pathOf('/secrets/'), { ...secret, metadata: { ...secret.metadata, resourceVersion: '901' } })
  }
  model.api.interfere(undefined)
  await until('that it reads them', async () => (await one.ledger.get(ORDERS))?.version === 1)
  await sleep(model.clock, 5_000, never)
  expect([await refusal(one), member('setBacks')]).toEqual([undefined, '1'])
  expect(told).not.toContain('LedgerRolledBack')
  put(path, undefined)
  await expect(one.ledger.swap(first, [])).rejects.toThrow(LedgerConflict)
  expect(await refusal(one)).toContain('the record of Pipe/orders is gone')
  await until('that it is counted', () => member('setBacks') === '2')
})
