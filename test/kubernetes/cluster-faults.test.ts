import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { sleep } from '../../src/lib/clock.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { Event } from '../../src/contract/events.ts'
import { LedgerConflict, LedgerError, type Ledger } from '../../src/contract/ledger.ts'
import { ACTIVITY, blank, entry, fullRecord, ignore, ORDERS } from '../ledger/samples.ts'
import { createClusterApi } from '../../src/ledger/kubernetes/cluster-api.ts'
import { errorOfReply } from '../../src/ledger/kubernetes/cluster-error.ts'
import { unbindLedger } from '../../src/ledger/open.ts'
import { recordedPipe } from '../plan/inputs.ts'
import { runHere } from '../support/command.ts'
import { until } from '../support/until.ts'
import { isOf, modelForEach } from './model-for-each.ts'
import { openAt } from './open-at.ts'
import type { Mishap } from './api-model.ts'
import { commandFlagsOf, writeCommon } from './pods.ts'
import { startSlowWay } from './slow-way.ts'

const never = new AbortController().signal
const model = modelForEach()
const { open, once, pathOf, put } = model

async function attempted(what: () => Promise<void>): Promise<string> {
  try {
    await what()
    return 'done'
  } catch (error) {
    return String(error)
  }
}

describe('a record whose write', () => {
  test('had no reply is not known to be written; it is seen when the API tells', async () => {
    const { ledger } = await open()
    once('POST', 'pipewrightrecords', 'lost')
    await expect(ledger.swap(blank(ORDERS), [])).rejects.toThrow(LedgerError)
    await until('what was written after all', async () => (await ledger.get(ORDERS))?.version === 1)
    expect([...ledger.toRead.keys()]).toEqual([ORDERS])
  })

  test('is put off by a busy API is written when it says so', async () => {
    const { ledger } = await open()
    once('POST', 'pipewrightrecords', { status: 429, retryAfter: 1 })
    const began = model.clock.monotonic()
    expect((await ledger.swap(blank(ORDERS), [])).version).toBe(1)
    expect(model.clock.monotonic() - began).toBeGreaterThanOrEqual(1_000)
  })
})

test('a mark in the Secret that meets conflicts is tried three times', async () => {
  const { ledger } = await open()
  let puts = 0
  model.api.interfere((asked) =>
    isOf(asked, 'PUT', '/secrets/') && (puts += 1) ? { status: 409 } : undefined,
  )
  await expect(ledger.swap(blank(ORDERS), [])).rejects.toThrow('409')
  expect(puts).toBe(3)
  model.api.interfere(undefined)
  await (await open()).leadership.acquire(never, 'wait')
  expect(model.api.objects().get(pathOf('/secrets/'))?.['data']).toHaveProperty('hasRecords')
  await ledger.swap(blank(ORDERS, { version: 1 }), [])
})

/** A move to Pipe/new that has ended half way. @returns lets its end arrive, as it was written then */
async function begun(ledger: Ledger, from: LedgerRecord, to?: LedgerRecord): Promise<() => Promise<number>> {
  once('PUT', 'pipe.old', 'cut')
  const moving = ledger.move(from, to ?? { ...from, key: 'Pipe/new', version: 0 }, [])
  await expect(moving).rejects.toThrow(LedgerError)
  const [old, target] = ['pipe.old', 'pipe.new'].map((name) => model.api.objects().get(pathOf(name)))
  const movedTo = { key: 'Pipe/new', version: target?.['version'] }
  const end = { ...old, version: Number(old?.['version']) + 1, record: undefined, movedTo }
  const path = pathOf('pipe.old')
  return async () => {
    const headers = { authorization: `Bearer ${model.api.token}`, 'content-type': 'application/json' }
    const body = JSON.stringify(end)
    return (await fetch(`${model.api.url}${path}`, { method: 'PUT', headers, body })).status
  }
}

async function seen(): Promise<readonly string[]> {
  return (await (await open({ mode: 'reader' })).ledger.list()).map(({ key }) => key)
}

describe('a move', () => {
  test('that ends half way has not happened, for whoever reads; and can be made again', async () => {
    const { ledger } = await open()
    const from = await ledger.swap(blank('Pipe/old', { line: 3 }), [])
    for (const method of ['POST', 'PUT']) {
      once(method, 'pipewrightrecords', 'cut')
      const moving = ledger.move(from, { ...from, key: 'Pipe/new', version: 0 }, [])
      await expect(moving).rejects.toThrow(LedgerError)
      expect(await ledger.list()).toStrictEqual([from])
    }
    const other = await open({ mode: 'reader' })
    expect(await other.ledger.list()).toStrictEqual([from])
    const moved = await ledger.move(from, { ...from, key: 'Pipe/new', version: 0 }, [entry('Pipe/new', 'm')])
    expect(await ledger.list()).toStrictEqual([moved])
    once('PUT', 'pipe.new', 'cut')
    await expect(ledger.swap(blank('Pipe/old'), [])).rejects.toThrow(LedgerError)
    expect(await (await open({ mode: 'reader' })).ledger.list()).toStrictEqual([moved])
  })

  test('onto a record, that ends half way, leaves both as they were; and can be made again', async () => {
    const { ledger } = await open()
    const from = await ledger.swap(blank('Pipe/old'), [])
    const taken = await ledger.swap(blank('Pipe/new', { line: 5 }), [])
    once('PUT', 'pipe.old', 'cut')
    await expect(ledger.move(from, { ...taken, line: 9 }, [])).rejects.toThrow(LedgerError)
    for (const { ledger: its } of [{ ledger }, await open({ mode: 'reader' })])
      expect(await its.list()).toStrictEqual([taken, from])
    const moved = await ledger.move(from, { ...taken, line: 9 }, [])
    expect(await (await open({ mode: 'reader' })).ledger.list()).toStrictEqual([moved])
  })

  test('whose end had no reply has happened, for whoever reads', async () => {
    const { ledger } = await open()
    const from = await ledger.swap(blank('Pipe/old'), [])
    once('PUT', 'pipewrightrecords', 'lost')
    await expect(ledger.move(from, { ...from, key: 'Pipe/new', version: 0 }, [])).rejects.toThrow(LedgerError)
    const other = await open({ mode: 'reader' })
    expect((await other.ledger.list()).map(({ key }) => key)).toEqual(['Pipe/new'])
    await until('the end of the move', async () => (await ledger.get('Pipe/old')) === undefined)
    expect((await ledger.list()).map(({ key }) => key)).toEqual(['Pipe/new'])
  })

  test('whose end another process hears of later is read again at both keys', async () => {
    const [one, other] = [await open(), await open()]
    const end = await begun(one.ledger, await one.ledger.swap(blank('Pipe/old'), []))
    await until('the beginning', () => other.ledger.toRead.has('Pipe/new'))
    other.ledger.toRead.clear()
    await end()
    await until('the end', async () => (await other.ledger.get('Pipe/old')) === undefined)
    expect([...other.ledger.toRead.keys()].toSorted()).toEqual(['Pipe/new', 'Pipe/old'])
  })

  describe('whose end arrives late', () => {
    test('while it is made again: its record is there all the time, and arrives', async () => {
      const { ledger } = await open()
      const from = await ledger.swap(blank('Pipe/old', { line: 3 }), [])
      const end = await begun(ledger, from)
      // Again, as far as half way.
      let puts = 0
      model.api.interfere(({ method, path }) =>
        method === 'PUT' && path.endsWith('pipe.old') && (puts += 1) === 2 ? 'cut' : undefined,
      )
      const again = ledger.move(from, { ...from, key: 'Pipe/new', version: 0 }, [])
      await expect(again).rejects.toThrow(LedgerError)
      model.api.interfere(undefined)
      expect(await end()).toBe(409)
      expect(await seen()).toEqual(['Pipe/old'])
      const still = await ledger.get('Pipe/old')
      if (still === undefined) throw new Error('it is lost')
      await ledger.move(still, { ...still, key: 'Pipe/new', version: 0 }, [])
      expect(await seen()).toEqual(['Pipe/new'])
    })

    test('after another record was made where it was to go: both are there', async () => {
      const { ledger } = await open()
      const from = await ledger.swap(blank('Pipe/old', { line: 3 }), [])
      const end = await begun(ledger, from)
      // This alone keeps the end away: its record is not written once more.
      const old = await ledger.swap({ ...from, line: 5 }, [])
      await ledger.swap(blank('Pipe/new', { line: 4 }), [])
      expect(await ledger.get('Pipe/old')).toStrictEqual(old)
      expect(await end()).toBe(409)
      expect(await seen()).toEqual(['Pipe/new', 'Pipe/old'])
    })

    test.each(['remove', 'swap'] as const)('after a %s where it was to go: its record stays', async (how) => {
      const { ledger } = await open()
      const taken = await ledger.swap(blank('Pipe/new'), [])
      const end = await begun(ledger, await ledger.swap(blank('Pipe/old'), []), taken)
      once('PUT', 'pipe.old', 'cut')
      await expect(ledger[how](taken, [])).rejects.toThrow(LedgerError)
      await ledger[how](taken, [])
      expect(await end()).toBe(409)
      expect(await seen()).toContain('Pipe/old')
    })

    test('before it was heard of: it has happened, and what is written on top is refused', async () => {
      const { ledger } = await open()
      const from = await ledger.swap(blank('Pipe/old', { line: 3 }), [])
      const end = await begun(ledger, from)
      model.api.interfere(({ query }) => (query.get('watch') === '1' ? 'cut' : undefined))
      model.api.cutWatches()
      expect(await end()).toBe(200)
      const again = ledger.move(from, { ...from, key: 'Pipe/new', version: 0 }, [])
      await expect(again).rejects.toThrow(LedgerConflict)
      expect(await seen()).toEqual(['Pipe/new'])
      expect((await ledger.list()).map(({ key }) => key)).toEqual(['Pipe/new'])
    })
  })
})

describe('what others write is heard', () => {
  test('where a record is, too, by whoever writes it and has not heard that it moved, and how often', async () => {
    const [one, other] = [await open(), await open()]
    const from = await one.ledger.swap(blank('Pipe/a'), [])
    await until('the record', async () => (await other.ledger.list()).length === 1)
    model.api.interfere(({ query }) => (query.get('watch') === '1' ? 'cut' : undefined))
    model.api.cutWatches()
    let heard = 0
    await other.ledger.watch(async () => void (heard += 1))
    const moved = await one.ledger.move(from, { ...from, key: 'Pipe/b', version: 0 }, [])
    const again = await one.ledger.move(moved, { ...moved, key: 'Pipe/c', version: 0 }, [])
    await expect(other.ledger.swap({ ...from, line: 7 }, [])).rejects.toThrow(LedgerConflict)
    expect(await other.ledger.list()).toEqual([again])
    expect(heard).toBeGreaterThan(0)
    expect(await other.ledger.get('Pipe/a')).toBeUndefined()
    const made = await one.ledger.swap(fullRecord('Pipe/d'), [])
    expect(await other.ledger.withIntent(made.intent?.id ?? '')).toStrictEqual(made)
  })

  test('also after the API has forgotten from where on it was heard', async () => {
    const [one, other] = [await open(), await open()]
    await one.ledger.swap(blank('Pipe/a'), [])
    await until('the first', async () => (await other.ledger.list()).length === 1)
    other.ledger.toRead.clear()
    model.api.interfere(({ query }) => (query.get('watch') === '1' ? { status: 503 } : undefined))
    model.api.cutWatches()
    await one.ledger.swap(blank('Pipe/b'), [])
    model.api.compact()
    model.api.interfere(undefined)
    await until('the second', async () => (await other.ledger.list()).length === 2)
    expect([...other.ledger.toRead.keys()]).toEqual(['Pipe/b'])
    expect(await attempted(() => other.ledger.assertCanSettle())).toBe('done')
  })

  test('and what one has written itself is not taken back by what is told late', async () => {
    const { ledger } = await open()
    let record = await ledger.swap(blank(ORDERS), [])
    for (let at = 0; at < 50; at += 1) {
      record = await ledger.swap({ ...record, line: at }, [])
      expect(await ledger.get(ORDERS)).toBe(record)
    }
    expect(ledger.toRead.size).toBe(0)
  })
})

describe('what is forbidden', () => {
  const FORBIDDEN = { status: 403 }

  test('to watch is said, and asked for again only after a while', async () => {
    let watches = 0
    model.api.interfere(({ query }) => {
      if (query.get('watch') !== '1') return undefined
      watches += 1
      return FORBIDDEN
    })
    const said: string[] = []
    const emit = (event: Event) =>
      void (event.type === 'LedgerRead' && said.push(`${event.result}: ${event.message}`))
    // With it no while ever passes.
    const { ledger } = await open({ emit, clock: { ...model.clock, after: () => () => undefined } })
    await until('that it is said', () => said.length > 0)
    await ledger.swap(await ledger.swap(blank(ORDERS), []), [])
    expect(said).toEqual(['failed: the Kubernetes API answers 403: interfered with'])
    expect(watches).toBe(1)
  })

  test('to read a record again, where another one was first, is why the write failed', async () => {
    const { ledger } = await open()
    model.api.interfere((asked) =>
      asked.query.get('watch') === '1' || isOf(asked, 'GET', 'pipewrightrecords/') ? FORBIDDEN : undefined,
    )
    const writer = (await open()).ledger
    await ledger.swap(blank(ORDERS), [])
    const writing = writer.swap(blank(ORDERS), [])
    await expect(writing).rejects.toThrow(LedgerError)
    await expect(writing).rejects.toThrow('the Kubernetes API answers 403: interfered with')
  })

  test.each([
    ['leases "a" is forbidden: User "system:serviceaccount:b:c" cannot update resource "leases"', true],
    ['admission webhook "a" denied the request: User "b" cannot create resource "c"', false],
    ['pipewrightrecords "a" is forbidden: exceeded quota: b, requested: count/c=1', false],
    [
      'secrets "a" is forbidden: unable to create new content in namespace b because it is being terminated',
      false,
    ],
  ])('needs a permission only where one is missing: %s', (message, isMissing) => {
    const way = isMissing ? '. Give the ServiceAccount this permission' : ''
    expect(errorOfReply(403, { message }).message).toBe(`the Kubernetes API answers 403: ${message}${way}`)
  })

  test('to have the Lease is not waited for by who does not wait', async () => {
    const { leadership } = await open()
    model.api.interfere((asked) => (isOf(asked, 'GET', 'leases') ? FORBIDDEN : undefined))
    await expect(leadership.acquire(never, 'refuse')).rejects.toThrow('the Kubernetes API answers 403')
  })
})

test.each([
  [5_499, 0],
  [5_500, 5_000],
  [-4_499, 0],
  [-4_500, -5_000],
])(
  'a clock that is %i ms from that of the API, whose seconds are whole, is %i ms ahead',
  async (by, ahead) => {
    const now = 1_800_000_000_000
    model.api.stopClock(now)
    const { ledger } = await open({ clock: { ...model.clock, now: () => now + by } })
    expect(ledger.aheadMs).toBe(ahead)
  },
)

test.each([
  [404, 'missing', 'the CustomResourceDefinition of PipewrightRecords is missing'],
  [503, 'io', 'the ledger cannot be used: the Kubernetes API answers 503'],
])('a ledger whose records are answered with %i is not opened', async (status, code, words) => {
  model.api.interfere((asked) => (isOf(asked, 'GET', 'pipewrightrecords') ? { status } : undefined))
  await expect(open()).rejects.toMatchObject({ code, message: expect.stringContaining(words) })
})

test('a ledger whose Lease cannot be read is not opened', async () => {
  await open()
  model.api.interfere((asked) => (isOf(asked, 'GET', 'leases') ? { status: 403 } : undefined))
  await expect(open()).rejects.toMatchObject({ code: 'io' })
})

test.each([
  ['a login that is refused is renewed once', [401], true, 'done', 1],
  ['and not twice', [401, 401], true, '401', 1],
  ['one that cannot be renewed is not used again', [401], false, '401', 1],
  ['a busy API is asked six times', Array(5).fill(429), true, 'done', 0],
  ['and not seven times', Array(6).fill(429), true, '429', 0],
])('%s', async (_, statuses: readonly number[], isRenewed, end, times) => {
  const left = [...statuses]
  model.api.interfere(() => ({ status: left.shift() ?? 404 }))
  let renewed = 0
  await using api = apiWith(() => (renewed += 1) > 0 && isRenewed)
  const words = end === 'done' ? '404' : end
  await expect(api.get('/api/v1/namespaces/default/secrets/x')).rejects.toThrow(`answers ${words}`)
  expect([left, renewed]).toEqual([[], times])
})

test('an event that arrives in parts is one event', async () => {
  await open()
  await using api = apiWith(() => false)
  const [path, stop] = [pathOf('/secrets/'), new AbortController()]
  const secret = await api.get(path)
  await api.replace(path, { ...secret, data: { large: 'x'.repeat(1_000_000) } })
  const { resourceVersion } = secret.metadata
  const heard: string[] = []
  const hear = ({ type, object }: { readonly type: string; readonly object: object }) => {
    heard.push(`${type} ${JSON.stringify(object).length > 1_000_000}`)
    stop.abort()
  }
  await api.watch(path.slice(0, path.lastIndexOf('/')), resourceVersion, hear, stop.signal)
  expect(heard[0]).toBe('MODIFIED true')
})

function apiWith(renew: () => boolean) {
  const current = async () => ({ token: model.api.token, tls: {} })
  const access = { server: model.api.url, namespace: 'default', current, renew }
  return createClusterApi({ access, userAgent: 'test', timeoutMs: 5_000, clock: model.clock })
}

test('what a leader says of itself is known to others from its next renewal on', async () => {
  const [one, other] = [await open(), await open({ mode: 'reader' })]
  const term = await one.leadership.acquire(never, 'wait')
  await one.ledger.noteActivity(ACTIVITY, new Map([[ORDERS, 5]]))
  await term.confirm()
  expect(await other.ledger.activity()).toEqual({ last: ACTIVITY, checkedAt: undefined })
  expect((await one.ledger.activity()).checkedAt).toEqual(new Map())
  expect([await other.ledger.owned(), other.leadership.leader()?.url]).toEqual([true, ACTIVITY.url])
})

test('a list whose pages are too old begins again', async () => {
  const { ledger } = await open()
  const keys = Array.from({ length: 600 }, (_, at) => `Pipe/p${String(at).padStart(3, '0')}` as const)
  for (let at = 0; at < keys.length; at += 100)
    await Promise.all(keys.slice(at, at + 100).map((key) => ledger.swap(blank(key), [])))
  let isCompacted = false
  model.api.interfere(({ query }) => {
    if (query.has('continue') && !isCompacted) {
      isCompacted = true
      model.api.compact()
    }
    return undefined
  })
  expect((await (await open({ mode: 'reader' })).ledger.list()).length).toBe(600)
  expect(isCompacted).toBe(true)
  // A cache on the way that ignores the query
  model.api.interfere(({ query }) => {
    query.delete('continue')
    return undefined
  })
  await expect(open({ mode: 'reader' })).rejects.toThrow('not from the Kubernetes API')
})

test('an unreadable record does not hide the attempt of another key', async () => {
  const { ledger } = await open()
  await ledger.swap(blank('Pipe/a'), [])
  const { intent } = await ledger.swap(fullRecord(ORDERS), [])
  const path = pathOf('pipe.a')
  put(path, { ...model.api.objects().get(path), version: 2, record: '{' })
  expect(await ledger.withIntent('another')).toBeUndefined()
  expect((await ledger.withIntent(intent?.id ?? ''))?.key).toBe(ORDERS)
})

/** Not `missing`, which a plan takes for a first run. */
const DAMAGED = { code: 'corrupt' }

describe('the Secret', () => {
  test('that is gone, while there are records: nothing is done', async () => {
    await (await open()).ledger.swap(blank(ORDERS), [])
    remove('secrets/ledger')
    await expect(open()).rejects.toThrow('has records, but its Secret is missing')
    await expect(open({ mode: 'reader' })).rejects.toMatchObject(DAMAGED)
  })

  test('without its records: nothing is done, and no first run is made of it', async () => {
    await (await open()).ledger.swap(blank(ORDERS), [])
    model.api.interfere(({ path }) => (path.includes('pipewrightrecords') ? { status: 404 } : undefined))
    await expect(open({ mode: 'reader' })).rejects.toMatchObject(DAMAGED)
    model.api.interfere(undefined)
    for (const path of model.api.objects().keys()) if (path.includes('pipewrightrecords')) remove(path)
    await expect(open()).rejects.toThrow('had records, and has none')
    await expect(open({ mode: 'reader' })).rejects.toMatchObject(DAMAGED)
  })

  test('that another process makes at the same time is the one of both', async () => {
    const one = await open()
    once('GET', '/secrets/', { status: 404 })
    expect((await open()).ledger.hashKey).toStrictEqual(one.ledger.hashKey)
  })

  test('of a ledger whose first record could not be written, or is being written: it is opened', async () => {
    const { ledger } = await open()
    once('POST', 'pipewrightrecords', 'cut')
    await expect(ledger.swap(blank(ORDERS), [])).rejects.toThrow(LedgerError)
    await open()
  })

  test('names the platform of its records, until that is untied', async () => {
    const [first, second] = ['https://one.example', 'https://two.example']
    const one = await open({ platform: first })
    await one.ledger.swap(blank(ORDERS), [])
    const term = await one.leadership.acquire(never, 'wait')
    await term.release()
    await expect(open({ platform: second })).rejects.toMatchObject({ code: 'platform' })
    expect(await unbindLedger('kubernetes:ledger', model)).toBe(first)
    once('PUT', '/secrets/', 'cut')
    await (await open({ platform: second })).leadership.acquire(never, 'wait')
    await expect(open({ platform: first })).rejects.toMatchObject({ code: 'platform' })
  })
})

function remove(part: string): void {
  const objects = model.api.objects() as Map<string, unknown>
  for (const path of objects.keys()) if (path.endsWith(part)) objects.delete(path)
}

function renewals(): number {
  return model.api.writes.filter((write) => write.includes('/leases/')).length
}

/** Each renewal meets a conflict. @param status of a read after it; undefined: it is answered */
function conflict(status: number | undefined): void {
  model.api.interfere(({ method, path }) => {
    if (!path.includes('/leases/')) return undefined
    if (method === 'PUT') return { status: 409 }
    return status === undefined ? undefined : { status }
  })
}

describe('the right to act', () => {
  /** What is planned with it does not happen. */
  const standing = { ...model.clock, after: () => () => undefined }

  test('is asked for again where the API does not answer at once', async () => {
    const { leadership } = await open()
    // Another process was faster.
    once('POST', 'leases', { status: 409 })
    expect(await leadership.attempt(never)).toBeUndefined()
    const mishaps: Mishap[] = ['cut', { status: 503 }, { status: 401 }]
    model.api.interfere((asked) => (isOf(asked, 'GET', 'leases') ? mishaps.pop() : undefined))
    const began = model.clock.monotonic()
    expect(await leadership.attempt(never)).toMatchObject({ epoch: 1 })
    expect([mishaps, model.clock.monotonic() - began >= 3_000]).toEqual([[], true])
  })

  test('is not asked for for ever, and not again where the API says no', async () => {
    const { leadership } = await open()
    let asks = 0
    const always = (mishap: Mishap) => {
      model.api.interfere((asked) => {
        if (!isOf(asked, 'GET', 'leases')) return undefined
        asks += 1
        return mishap
      })
    }
    always('cut')
    await expect(leadership.attempt(never)).rejects.toThrow('the Kubernetes API cannot be reached')
    expect(asks).toBe(10)
    always({ status: 403 })
    await expect(leadership.attempt(never)).rejects.toThrow('the Kubernetes API answers 403')
    expect(asks).toBe(11)
  })

  test('is confirmed by a renewal whose first reply was lost', async () => {
    const told: string[] = []
    const { leadership } = await open({
      emit: (event) => event.type === 'LeaseRenewed' && told.push(event.result),
    })
    const term = await leadership.acquire(never, 'wait')
    once('PUT', 'leases', 'lost')
    await expect(term.confirm()).rejects.toMatchObject({ isOver: false })
    await term.confirm()
    expect(term.over.aborted).toBe(false)
    expect(told).toEqual(['failed', 'renewed'])
  })

  test('is not known to be there after the Lease was not renewed for as long as it lasts: only outcomes are written', async () => {
    const [{ ledger, leadership }, other] = [await open(), await open()]
    await leadership.acquire(never, 'wait')
    const record = await ledger.swap(blank(ORDERS), [])
    model.api.interfere(({ path }) => (path.includes('/leases') ? 'cut' : undefined))
    await until('that nothing is begun', () =>
      ledger.assertCanSettle().then(
        () => false,
        (error: unknown) => String(error).includes('the Lease cannot be renewed'),
      ),
    )
    await until('that it has lapsed', () =>
      ledger.swap(record, []).then(
        () => false,
        (error: unknown) => String(error).includes('was not renewed for 1 s') || undefined,
      ),
    )
    const now = (await ledger.get(ORDERS)) ?? record
    await expect(ledger.remove(now, [])).rejects.toThrow('only outcomes of sent requests are written')
    await expect(ledger.move(now, { ...now, key: 'Pipe/b', version: 0 }, [])).rejects.toThrow('only outcomes')
    await ledger.settle({ ...now, line: 7 }, [])
    // Not heard: meanwhile, the new leader has given the created pipe to another key.
    model.api.interfere(({ path, query }) =>
      path.includes('/leases') || query.get('watch') === '1' ? 'cut' : undefined,
    )
    model.api.cutWatches()
    const remote = recordedPipe('p-1')
    const before = (await ledger.get(ORDERS)) ?? record
    await other.ledger.swap(blank('Pipe/b', { remote }), [])
    await expect(ledger.settle({ ...before, remote }, [])).rejects.toThrow(LedgerConflict)
    expect(ledger.toRead.has('Pipe/b')).toBe(true)
    model.api.interfere(undefined)
    await until('that it is renewed', () =>
      ledger.assertCanSettle().then(
        () => true,
        () => false,
      ),
    )
    await ledger.swap((await ledger.get(ORDERS)) ?? record, [])
  })

  test('is over once another process has taken over, also where the API is too slow for a renewal', async () => {
    let ms = 0
    await using way = await startSlowWay(model.api.url, model.clock, () => ms)
    const { leadership, ledger } = await openAt({ url: way.url, token: model.api.token }, model.workspace, {
      clock: model.clock,
    })
    await using _ = ledger
    const term = await leadership.acquire(never, 'wait')
    // A renewal is given up after a fifth of the lease.
    ms = 400
    const other = await open()
    expect((await other.leadership.acquire(never, 'wait')).epoch).toBe(2)
    expect(term.endsAt()).toBeLessThanOrEqual(model.clock.monotonic())
    await until('that it is over', () => term.over.aborted)
  })

  test('is over for the first renewal that fails while another process holds the Lease', async () => {
    // It renews when it is asked to, and not by itself.
    const { leadership } = await open({ clock: standing })
    const term = await leadership.acquire(never, 'wait')
    const path = pathOf('/leases/')
    const lease = model.api.objects().get(path) as { readonly metadata: object; readonly spec: object }
    model.api.interfere((asked) => (isOf(asked, 'PUT', 'leases') ? { status: 503 } : undefined))
    const metadata = { ...lease.metadata, resourceVersion: '1000' }
    put(path, { ...lease, metadata, spec: { ...lease.spec, holderIdentity: 'another' } })
    await sleep(model.clock, 2_000, never)
    await expect(term.confirm()).rejects.toMatchObject({ isOver: true, message: 'another became the leader' })
  })

  test('is got although the reply of the takeover was lost', async () => {
    for (const how of ['acquire', 'attempt'] as const) {
      const { leadership, ledger } = await open({ place: how })
      await using _ = ledger
      once('POST', 'leases', 'lost')
      const term = await leadership[how](never, 'wait')
      expect(term?.epoch).toBe(1)
      await term?.confirm()
    }
  })

  test.each([
    ['five times while the Lease lasts', 1_000, 200],
    ['each second', 15_000, 1_000],
  ])('is asked for by a process that waits %s', async (_, leaseMs, everyMs) => {
    const [one, other] = [await open({ leaseMs }), await open({ leaseMs })]
    await one.leadership.acquire(never, 'wait')
    const stop = new AbortController()
    let looks = 0
    model.api.interfere((asked) => void (looks += Number(isOf(asked, 'GET', 'leases'))))
    const began = model.clock.monotonic()
    other.leadership.acquire(stop.signal, 'wait').catch(ignore)
    await until('six looks', () => looks >= 6)
    stop.abort()
    const passedMs = model.clock.monotonic() - began
    expect(passedMs).toBeGreaterThanOrEqual(5 * everyMs)
    expect(passedMs).toBeLessThan(3 * 5 * everyMs)
  })

  test('is had only after a deleted Lease would have ended, if it was seen', async () => {
    const [one, other] = [await open({ leaseMs: 5_000, clock: standing }), await open()]
    await one.leadership.acquire(never, 'wait')
    expect(await other.ledger.owned()).toBe(true)
    remove('/leases/ledger')
    const began = model.clock.monotonic()
    await other.leadership.acquire(never, 'wait')
    expect(model.clock.monotonic() - began).toBeGreaterThanOrEqual(5_000)
  })

  test('is had once it is not renewed, although another program changes it all the time', async () => {
    const [one, other] = [await open({ clock: standing }), await open()]
    await one.leadership.acquire(never, 'wait')
    const path = model.pathOf('/leases/')
    let changes = 0
    model.api.interfere((asked) => {
      const lease = model.api.objects().get(path) as {
        readonly metadata: { readonly resourceVersion: string }
      }
      const resourceVersion = `${lease.metadata.resourceVersion}0`
      const isRead = isOf(asked, 'GET', '/leases/') && (changes += 1) < 40
      if (isRead) model.put(path, { ...lease, metadata: { ...lease.metadata, resourceVersion } })
      return undefined
    })
    await other.leadership.acquire(never, 'refuse')
    expect(changes).toBeLessThan(40)
  })

  test('is had by a command after the daemon of its host was killed, whose address no longer answers', async () => {
    const [{ leadership, ledger }, other] = [await open({ clock: standing }), await open()]
    const term = await leadership.acquire(never, 'wait')
    const url = 'http://127.0.0.1:1/'
    await ledger.noteActivity({ ...ACTIVITY, url, host: hostname() }, new Map())
    await term.confirm()
    const place = ['--ledger=kubernetes:ledger', `--manifests=${model.workspace.manifests}`]
    const { stderr } = await runHere(['resume', ORDERS, ...place], {}, model)
    expect(stderr).not.toContain('does not answer')
    expect((await other.leadership.acquire(never, 'wait')).epoch).toBe(3)
  })

  test('is not given: an apply that is stopped then says that nothing was applied', async () => {
    writeCommon(model.workspace)
    const stop = new AbortController()
    model.api.interfere((asked) => {
      if (!isOf(asked, 'POST', 'leases')) return undefined
      stop.abort('SIGTERM')
      return { status: 503 }
    })
    const flags = commandFlagsOf({ workspace: model.workspace, platform: 'http://127.0.0.1:1' })
    const { clock } = model
    const ended = await runHere(['apply', '--yes', ...flags], {}, { stopping: stop.signal, clock })
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('stopped by SIGTERM before any')])
  })

  test('is not released for another process that has it by then', async () => {
    const [one, other] = [await open({ clock: standing }), await open()]
    const term = await one.leadership.acquire(never, 'wait')
    await other.leadership.acquire(never, 'wait')
    expect(await one.ledger.owned()).toBe(true)
    await term.release()
    expect(await one.ledger.owned()).toBe(true)
  })

  test('is over when somebody deletes the Lease', async () => {
    const { leadership } = await open()
    const term = await leadership.acquire(never, 'wait')
    remove('/leases/ledger')
    await expect(term.confirm()).rejects.toMatchObject({ isOver: true, message: 'the Lease was deleted' })
  })

  test('is over only if a conflict of its renewal comes from another process, or from a delete', async () => {
    const { leadership, ledger } = await open()
    const term = await leadership.acquire(never, 'wait')
    conflict(403)
    await expect(term.confirm()).rejects.toMatchObject({
      isOver: false,
      message: 'the Lease cannot be read: the Kubernetes API answers 403: interfered with',
    })
    await expect(ledger.assertCanSettle()).rejects.toThrow('the Lease cannot be renewed: the Kubernetes API')
    once('PUT', 'leases', { status: 409 })
    await term.confirm()
    remove('/leases/ledger')
    conflict(undefined)
    await expect(term.confirm()).rejects.toMatchObject({ isOver: true, message: 'the Lease was deleted' })
  })

  test('is not confirmed by a renewal that began before it was asked', async () => {
    const { leadership } = await open({ leaseMs: 60_000 })
    const term = await leadership.acquire(never, 'wait')
    const before = renewals()
    // The first one is under way when the second one is asked for.
    const [first, second] = [term.confirm(), term.confirm()]
    await first
    const began = renewals()
    await second
    expect([began - before, renewals() - before]).toEqual([1, 2])
  })

  test('is confirmed until nobody can have taken over, by when the renewal began', async () => {
    let lateMs = 0
    const clock = { ...model.clock, monotonic: () => model.clock.monotonic() + lateMs }
    const { leadership } = await open({ leaseMs: 5_000, clock })
    const term = await leadership.acquire(never, 'wait')
    const asked = clock.monotonic()
    model.api.interfere((request) => void (lateMs += isOf(request, 'PUT', 'leases') ? 4_000 : 0))
    const end = await term.confirm()
    expect(end).toBeGreaterThanOrEqual(asked + 5_000)
    expect(end).toBeLessThanOrEqual(clock.monotonic() + 5_000 - 4_000)
  })

  test('begins with all that was written before, also by a process that was not heard', async () => {
    const [one, other] = [await open(), await open()]
    const term = await one.leadership.acquire(never, 'wait')
    model.api.interfere(({ query }) => (query.get('watch') === '1' ? { status: 503 } : undefined))
    model.api.cutWatches()
    const intent = await one.ledger.swap(blank(ORDERS), [])
    await term.release()
    await other.leadership.acquire(never, 'wait')
    expect(await other.ledger.get(ORDERS)).toStrictEqual(intent)
  })

  test('is over soon if each renewal meets a conflict although the Lease does not change', async () => {
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
})
