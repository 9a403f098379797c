import { conditionMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import type { ErrorClass } from '../../src/contract/remote-error.ts'
import { PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { ODD, type RemoteResource } from '../../src/kinds/remote-resource.ts'
import { listedResources } from '../../src/platform/wire.ts'
import { OTHER_SERVICE_ID, SERVICE_ID } from '../support/manifests.ts'
import { given, type Given, HOUR, MINUTE, SECOND } from './given.ts'
import { during, LISTING } from './given-listing.ts'
import { lock, pipe, pipeBodyOf, service, type PipeOptions } from './manifests.ts'
import type { Script } from './model-script.ts'
import { planOf } from './plan-of.ts'

/*
 * What the list of all pipes of a service settles, and what it does not (design §14), over hours: in one process, by a clock that the test
 * moves. The same with the real program: `test/clickhouse-cloud/list.test.ts`.
 */

const ORDERS: Key = 'Pipe/orders'
const OTHER: Key = 'Pipe/other'
const NEW: Key = 'Pipe/new'

const SUSPENDED = { reason: 'planned', until: '2100-01-01T00:00:00Z' }
const GONE = { type: 'fail', class: 'Missing', effect: 'none', worked: false } as const

function listing(names: readonly string[]): Promise<Given> {
  const files = Object.fromEntries(names.map((name) => [`${name}.yaml`, pipe(name)]))
  return given(files, { profile: LISTING })
}

async function idOf(world: Given, key: Key): Promise<string> {
  return (await world.record(key)).remote?.id ?? ''
}

/** A create whose reply is lost. */
async function lost(worked: boolean): Promise<Given> {
  const world = await listing(['orders'])
  world.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked })
  expect((await world.go(ORDERS)).outcome.result).toBe('unknown')
  await world.clock.advance(MINUTE)
  return world
}

/** Somebody makes a pipe by hand. */
function make(world: Given, name: string, options: PipeOptions = {}): string {
  return world.platform.make(SERVICE_ID, { name, ...pipeBodyOf('orders', options) })
}

describe('a create of unknown outcome, its manifest edited since', () => {
  const edits: readonly { readonly of: string; readonly edited: PipeOptions; readonly theirs: string }[] = [
    { of: 'the body', edited: { topics: 'edited' }, theirs: 'orders' },
    { of: 'the name', edited: { platformName: 'renamed' }, theirs: 'renamed' },
    { of: 'both', edited: { topics: 'edited', platformName: 'renamed' }, theirs: 'renamed' },
  ]

  test.each(edits)('in $of, finds its pipe as it was asked for then', async ({ edited }) => {
    const world = await lost(true)
    world.write('orders.yaml', pipe('orders', edited))
    const [ours] = world.platform.pipes.keys()
    expect((await world.go(ORDERS)).action).toMatchObject({ type: 'adopt', reason: 'FoundByList' })
    expect(await idOf(world, ORDERS)).toBe(ours)
    expect((await world.record(ORDERS)).platformName).toBe('orders')
    // what was edited since shows
    expect((await world.go(ORDERS)).action.reason).toBe('NotUpdatable')
    expect(world.platform.posts).toHaveLength(1)
  })

  test.each(edits)('in $of, finds its own beside one as asked for now', async ({ edited, theirs }) => {
    const world = await lost(true)
    const [ours = ''] = world.platform.pipes.keys()
    world.write('orders.yaml', pipe('orders', edited))
    make(world, theirs, edited)
    const { action } = await world.go(ORDERS)
    const { remote } = await world.record(ORDERS)
    // of one name, a person is asked
    expect([action.reason, remote?.id]).toEqual(
      theirs === 'orders' ? ['Ambiguous', undefined] : ['FoundByList', ours],
    )
    expect(world.platform.posts).toHaveLength(1)
  })
})

/** What a look at it comes to. */
async function stillUnknown(world: Given): Promise<void> {
  expect((await world.go(ORDERS)).action).toMatchObject({ type: 'refuse', reason: 'OutcomeUnknown' })
  expect((await world.record(ORDERS)).remote).toBeUndefined()
}

describe('a create of unknown outcome does not take for its own', () => {
  test('a pipe that is older, and was not in the list then', async () => {
    const world = await listing(['orders'])
    make(world, 'orders')
    await world.clock.advance(HOUR)
    world.platform.listed = () => []
    world.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false })
    await world.go(ORDERS)
    world.platform.listed = (there) => there
    await world.clock.advance(MINUTE)
    await stillUnknown(world)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('one in the service that its manifest names now', async () => {
    const world = await lost(false)
    world.write('service-2.yaml', service('other', OTHER_SERVICE_ID))
    world.write('orders.yaml', pipe('orders', { service: 'other' }))
    world.platform.make(OTHER_SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders') })
    await stillUnknown(world)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('one that the list says is of another service', async () => {
    const world = await lost(false)
    make(world, 'orders')
    world.platform.listed = (there) => there.map((item) => ({ ...item, serviceId: OTHER_SERVICE_ID }))
    await stillUnknown(world)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('the one that was given up for it', async () => {
    const world = await listing(['orders'])
    await world.go(ORDERS)
    await world.clock.advance(HOUR)
    await world.go(ORDERS)
    const [[id, there] = []] = world.platform.pipes
    world.platform.pipes.clear()
    world.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false })
    await during(world, ORDERS, 25 * MINUTE)
    expect(world.platform.posts).toHaveLength(2)
    if (id !== undefined && there !== undefined) world.platform.pipes.set(id, there)
    world.platform.listed = (items) => items.map((item) => ({ ...item, createdAt: null }))
    await world.clock.advance(MINUTE)
    await stillUnknown(world)
  })

  test('one that another key has', async () => {
    const world = await listing(['orders'])
    world.write('copy.yaml', pipe('copy', { platformName: 'orders', topics: 'orders' }))
    world.remove('orders.yaml')
    await world.go('Pipe/copy')
    world.write('orders.yaml', pipe('orders', { policy: { replaces: 'Pipe/copy' } }))
    world.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false })
    await world.go(ORDERS)
    await world.clock.advance(MINUTE)
    expect(world.platform.posts).toHaveLength(2)
    await stillUnknown(world)
  })
})

describe('a pipe that the list shows as equal, and that is by its id', () => {
  const cases: readonly { readonly by: string; readonly reading: Script; readonly said: string }[] = [
    { by: 'one with other values', reading: { type: 'other', change: { source: {} } }, said: 'not the same' },
    { by: 'one of another name', reading: { type: 'other', change: { name: 'else' } }, said: 'not the same' },
    { by: 'not there', reading: GONE, said: 'It was in the list of the service a moment ago' },
  ]

  test.each(cases)(
    '$by, is not taken, nor another one made; it is looked at ever more rarely',
    async (row) => {
      const world = await listing(['orders'])
      make(world, 'orders')
      world.platform.always('get', row.reading)
      const results = await during(world, ORDERS, HOUR)
      expect(world.platform.posts).toHaveLength(0)
      for (const { outcome } of results) {
        expect(outcome).toMatchObject({ result: 'failed', reason: 'AdoptRefused' })
        expect(JSON.stringify(outcome)).toContain(row.said)
      }
      // by its back-off, of at most five minutes: each time one reading, and one list; where the two differ, a new one
      expect(results.length).toBeGreaterThan(10)
      expect(results.length).toBeLessThan(50)
      const { get, list } = world.platform.requests
      expect(get).toBe(results.length)
      expect(list).toBeLessThanOrEqual(results.length)
      expect(list).toBeGreaterThanOrEqual(row.reading === GONE ? 1 : results.length)
      // when the two agree again, it is taken
      world.platform.always('get', 'ok')
      await during(world, ORDERS, 10 * MINUTE)
      expect((await world.record(ORDERS)).remote?.origin).toBe('adopted')
    },
  )
})

describe('pipes that are recorded and not in the list', () => {
  const NAMES = ['a', 'b', 'c', 'd'] as const
  const LOST = ['a', 'b', 'c'] as const

  /** Four that were made an hour ago; three of them are not there any more. */
  async function threeAway(policy: (id: string) => JsonObject): Promise<Given> {
    const world = await listing(NAMES)
    for (const name of NAMES) await world.go(`Pipe/${name}`)
    await world.clock.advance(HOUR)
    for (const name of NAMES) await world.go(`Pipe/${name}`)
    for (const name of LOST) {
      const id = await idOf(world, `Pipe/${name}`)
      world.platform.pipes.delete(id)
      world.write(`${name}.yaml`, pipe(name, { policy: policy(id) }))
    }
    world.write('new.yaml', pipe('new'))
    await world.clock.advance(MINUTE)
    return world
  }

  test('are too many to believe it, when nobody knows why', async () => {
    const world = await threeAway(() => ({}))
    expect((await world.go(NEW)).action).toMatchObject({
      reason: 'MassMissing',
      facts: { missing: 3, of: 4 },
    })
    expect(world.platform.posts).toHaveLength(4)
  })

  test.each([
    { why: 'a person says that they are deleted', policy: (id: string) => ({ recreate: id }) },
    { why: 'they are suspended', policy: () => ({ suspend: SUSPENDED }) },
  ])('are no doubt about it when $why', async ({ policy }) => {
    const world = await threeAway(policy)
    expect((await world.go(NEW)).action).toMatchObject({ type: 'create', reason: 'New' })
  })

  test('are no doubt about it once their 404s are confirmed', async () => {
    const world = await threeAway(() => ({ onMissing: 'report' }))
    for (let look = 0; look < 5; look += 1) {
      for (const name of NAMES) await world.go(`Pipe/${name}`)
      await world.clock.advance(35 * SECOND)
    }
    expect((await world.go(NEW)).action).toMatchObject({ type: 'create', reason: 'New' })
  })

  test('are a doubt again when the list is empty: one of one is enough', async () => {
    const world = await listing(['a'])
    await world.go('Pipe/a')
    await world.clock.advance(HOUR)
    world.platform.listed = () => []
    world.write('new.yaml', pipe('new'))
    expect((await world.go(NEW)).action).toMatchObject({ reason: 'MassMissing' })
  })
})

test('a list that is older than the last reading of a pipe says nothing of it', async () => {
  const world = await listing(['orders', 'other'])
  for (const key of [ORDERS, OTHER]) await world.go(key)
  await world.clock.advance(HOUR)
  expect((await world.go(OTHER)).action.reason).toBe('InSync')
  const { list } = world.platform.requests
  await world.clock.advance(SECOND)
  const there = world.platform.pipes.get(await idOf(world, ORDERS))
  if (there !== undefined) there.body = { ...there.body, scaling: { replicas: 7 } }
  // a person asks: that is a reading of its own
  const asked = await world.reconciler.reconcile(ORDERS, {
    priority: 0,
    signal: new AbortController().signal,
    reconcileId: 'asked',
    changedAt: undefined,
    isAsked: true,
    releaseSlot: async () => undefined,
  })
  expect(asked.action.reason).toBe('Drifted')
  await world.clock.advance(SECOND)
  expect((await world.go(ORDERS)).action.reason).toBe('Drifted')
  expect(world.platform.requests.list).toBe(list + 1)
  // while one that was begun since does
  expect((await world.go(OTHER)).action.reason).toBe('InSync')
  expect(world.platform.requests.list).toBe(list + 1)
})

test('a plan reads a pipe that differs in a list, which can lag, as apply does', async () => {
  const world = await listing(['orders'])
  await world.go(ORDERS)
  await world.clock.advance(HOUR)
  await world.go(ORDERS)
  world.platform.listed = (there) => there.map((item) => ({ ...item, scaling: { replicas: 7 } }))
  await world.clock.advance(MINUTE)
  const { items } = await planOf({ context: world.context, ledger: world.around.ledger })
  expect(items.find(({ key }) => key === ORDERS)?.reason).toBe('InSync')
  expect((await world.go(ORDERS)).action.reason).toBe('InSync')
})

describe('pipes whose ids are named', () => {
  const NAMES = ['a', 'b', 'c', 'd'] as const

  async function named(change: (world: Given, ids: readonly string[]) => void = () => undefined) {
    const world = await listing([])
    const ids = NAMES.map((name) => make(world, name, { topics: name }))
    for (const [at, name] of NAMES.entries())
      world.write(`${name}.yaml`, pipe(name, { policy: { adopt: ids[at] } }))
    change(world, ids)
    const results = []
    for (const name of NAMES) results.push(await world.go(`Pipe/${name}`))
    const origins = await Promise.all(
      NAMES.map(async (name) => (await world.record(`Pipe/${name}`)).remote?.origin),
    )
    expect(origins).toEqual(NAMES.map(() => 'adopted'))
    return {
      requests: world.platform.requests,
      reasons: results.map(({ outcome }) => 'reason' in outcome && outcome.reason),
    }
  }

  test('are read if they differ from their manifests', async () => {
    const { requests, reasons } = await named((world, [first = '']) => {
      const there = world.platform.pipes.get(first)
      if (there !== undefined) there.body = { ...there.body, scaling: { replicas: 7 } }
    })
    expect(requests).toMatchObject({ get: 1, list: 1 })
    expect(reasons).toEqual(['Drifted', 'Adopted', 'Adopted', 'Adopted'])
  })

  test('are read if a person says that they are deleted: a list can lag', async () => {
    const world = await listing([])
    const id = make(world, 'a', { topics: 'a' })
    world.write('lock.yaml', lock({ 'Pipe/a': id }))
    world.write('a.yaml', pipe('a', { policy: { recreate: id } }))
    world.platform.always('get', GONE)
    expect((await world.go('Pipe/a')).outcome).toMatchObject({ result: 'failed', reason: 'AdoptRefused' })
  })

  test.each(['not listed', 'listed with a broken field', 'not readable as a list'])(
    'are read if %s',
    async (how) => {
      const { requests } = await named(({ platform }) => {
        if (how === 'not listed') platform.listed = () => []
        else if (how === 'not readable as a list') platform.always('list', GONE)
        else
          platform.listed = (all) => all.map((item) => ({ ...item, [ODD]: { index: 0, fields: ['name'] } }))
      })
      expect(requests.get).toBe(NAMES.length)
    },
  )

  test('are not created anew if they were gone before they were read', async () => {
    const world = await listing(['other'])
    await world.go('Pipe/other')
    await world.clock.advance(MINUTE)
    const id = make(world, 'a', { topics: 'a' })
    world.write('a.yaml', pipe('a', { policy: { adopt: id } }))
    expect((await world.go('Pipe/a')).outcome).toMatchObject({ reason: 'Adopted' })
    world.platform.pipes.delete(id)
    const { posts } = world.platform
    const before = posts.length
    const reasons = new Set<string>()
    for (let minute = 0; minute < 20; minute += 1) {
      await world.go('Pipe/other')
      reasons.add((await world.go('Pipe/a')).action.reason)
      await world.clock.advance(MINUTE)
    }
    expect(posts).toHaveLength(before)
    expect([...reasons]).toEqual(['MissingUnconfirmed', 'NeverSeen'])
  })
})

/** One pipe, alone in its service, made an hour ago. */
async function alone(): Promise<Given> {
  const world = await listing(['orders'])
  await world.go(ORDERS)
  await world.clock.advance(HOUR)
  await world.go(ORDERS)
  await world.clock.advance(MINUTE)
  world.platform.always('list', GONE)
  return world
}

describe("a list that is answered with the platform's own 404 for ever", () => {
  test.each([
    { after: 'for ever', ms: HOUR },
    { after: 'until it is asked for a last time', ms: 16 * MINUTE },
  ])('is no last look at a pipe that is not found $after: no second one is made', async ({ ms }) => {
    const world = await alone()
    world.platform.always('get', GONE)
    const results = await during(world, ORDERS, ms)
    // it was confirmed, and the create stood before the list
    expect(results.some(({ outcome }) => outcome.result === 'failed')).toBe(true)
    world.platform.always('get', 'ok')
    await during(world, ORDERS, HOUR)
    expect(world.platform.posts).toHaveLength(1)
    expect((await world.go(ORDERS)).action.reason).toBe('InSync')
  })
})

function fails(errorClass: ErrorClass): Script & { readonly type: 'fail' } {
  return { type: 'fail', class: errorClass, effect: 'none', worked: false }
}

describe('a list that fails', () => {
  test.each([
    // as often as it says, and otherwise ever more rarely
    { with: '429', fault: fails('Throttled'), most: 200, reason: 'RateLimited' },
    { with: '424', fault: fails('ServiceIdle'), most: 25, reason: 'ServiceIdle' },
    { with: '500', fault: fails('Unavailable'), most: 25, reason: 'Unavailable' },
    { with: 'what is no list', fault: fails('BadReply'), most: 25, reason: 'Unavailable' },
    { with: '401', fault: fails('AuthFailed'), most: 25, reason: 'AuthFailed' },
    { with: '404', fault: GONE, most: 25, reason: undefined },
  ])('with $with creates nothing, harms nothing that is there, and is over when it is', async (row) => {
    const world = await listing(['orders'])
    await world.go(ORDERS)
    await world.clock.advance(HOUR)
    await world.go(ORDERS)
    await world.clock.advance(MINUTE)
    world.platform.always('list', row.fault)
    const { list } = world.platform.requests
    world.write('new.yaml', pipe('new'))
    const results = await during(world, NEW, 20 * MINUTE)
    for (const { outcome } of results)
      expect(outcome).toMatchObject({ result: 'failed', ...(row.reason && { reason: row.reason }) })
    expect(world.platform.posts).toHaveLength(1)
    expect(results.length).toBeGreaterThan(5)
    expect(world.platform.requests.list - list).toBeLessThanOrEqual(row.most)
    // what is there is asked for by its id, unless whoever asks is to wait
    await world.clock.advance(MINUTE)
    const { outcome } = await world.go(ORDERS)
    const mustWait = row.fault.class === 'Throttled' || row.fault.class === 'ServiceIdle'
    expect(outcome.result).toBe(mustWait ? 'failed' : 'done')
    expect((await world.record(ORDERS)).remote).toBeDefined()
    world.platform.always('list', 'ok')
    await during(world, NEW, 10 * MINUTE)
    await during(world, ORDERS, 10 * MINUTE)
    expect(world.platform.posts).toHaveLength(2)
    expect((await world.go(ORDERS)).action.reason).toBe('InSync')
  })
})

function upper(item: RemoteResource): RemoteResource {
  return { ...item, id: item.id.toUpperCase() }
}

function nameless(item: RemoteResource): RemoteResource {
  return { ...item, name: null }
}

function changed(item: RemoteResource): RemoteResource {
  return { ...item, scaling: { replicas: 7 } }
}

describe('an odd list', () => {
  const LETTERS = 'abcdefab-cdef-4abc-8def-abcdefabcdef'
  const cases: readonly {
    readonly is: string
    readonly listed: (there: readonly RemoteResource[]) => readonly RemoteResource[]
    readonly reason: string
  }[] = [
    { is: 'with everything twice', listed: (there) => [...there, ...there], reason: 'FoundByList' },
    {
      is: 'with everything twice, once as it was',
      listed: (there) => [...there, ...there.map(changed)],
      reason: 'Ambiguous',
    },
    {
      is: 'with everything twice, once as it was, the other way round',
      listed: (there) => [...there.map(changed), ...there],
      reason: 'FoundByList',
    },
    {
      is: 'with everything twice, once in capital letters',
      listed: (there) => [...there, ...there.map(upper)],
      reason: 'FoundByList',
    },
    { is: 'with ids in capital letters', listed: (there) => there.map(upper), reason: 'FoundByList' },
    { is: 'without names', listed: (there) => there.map(nameless), reason: 'Ambiguous' },
  ]

  test.each(cases)('$is: no resource is created a second time', async ({ listed, reason }) => {
    const world = await listing(['orders'])
    const { pipes } = world.platform
    const there = pipes.get(make(world, 'orders'))
    pipes.clear()
    if (there !== undefined) pipes.set(LETTERS, { ...there, id: LETTERS })
    world.platform.listed = listed
    const [first] = await during(world, ORDERS, 20 * MINUTE)
    expect(first?.action.reason).toBe(reason)
    expect(world.platform.posts).toHaveLength(0)
    if (reason === 'Ambiguous') return
    expect((await world.record(ORDERS)).remote?.origin).toBe('adopted')
    const { get } = world.platform.requests
    await world.clock.advance(HOUR)
    expect((await world.go(ORDERS)).action.reason).toBe('InSync')
    // it is found there again
    expect(world.platform.requests.get).toBe(get)
  })

  test('with others without names, or with nothing but an id, holds back nothing that is new', async () => {
    const world = await listing(['orders'])
    make(world, 'theirs', { topics: 'theirs' })
    world.platform.listed = (there) => [...there.map(nameless), ...there.map(({ id }) => ({ id }))]
    expect((await world.go(ORDERS)).action.reason).toBe('New')
  })
})

describe('an odd item of a list', () => {
  const NAMED = { state: { status: 'Running' } }
  const rows = [
    { of: 'an object as a state', name: 'theirs', item: NAMED, reason: 'New' },
    { of: 'an object as a state, and the same name', name: 'orders', item: NAMED, reason: 'Ambiguous' },
    { of: 'no id', name: 'theirs', item: { id: null }, reason: 'New' },
    { of: 'no id, and the same name', name: 'orders', item: { id: null }, reason: 'Ambiguous' },
    { of: 'a number as a name, and another body', name: 'theirs', item: { name: 7 }, reason: 'New' },
    { of: 'a number as a name, and the same body', name: 'orders', item: { name: 7 }, reason: 'Ambiguous' },
    { of: 'no object', name: 'orders', item: null, reason: 'New' },
    { of: 'neither name nor source', name: 'theirs', item: { name: 7, source: 7 }, reason: 'New' },
  ] as const

  test.each(rows)('with $of: $reason', async ({ name, item, reason }) => {
    const world = await listing(['orders'])
    make(world, name, { topics: name })
    world.platform.listed = (there) => {
      const result = JSON.parse(JSON.stringify(there.map((each) => item && { ...each, ...item }))) as Json
      return listedResources(PIPE)({ result }) ?? []
    }
    expect((await world.go(ORDERS)).action.reason).toBe(reason)
    expect(world.platform.posts).toHaveLength(reason === 'New' ? 1 : 0)
    const reports = world.events.filter(({ type }) => type === 'ListItemsOdd')
    expect(reports, 'one report').toHaveLength(1)
    if (reason !== 'Ambiguous') return
    const message = conditionMessage((await world.conditions(ORDERS)).Synced)
    expect(message).toContain(`set policy.adopt: ${'id' in item ? 'ID' : '0'}`)
    expect(message).toContain(
      'id' in item ? 'at index 0 of the list' : '00000000-0000-4000-8000-000000000001',
    )
  })

  test('is no reading of its pipe: that is asked for by its id', async () => {
    const world = await listing(['orders'])
    await world.go(ORDERS)
    await world.clock.advance(HOUR)
    world.platform.listed = (there) =>
      there.map((each) => ({ ...each, [ODD]: { index: 0, fields: ['state'] } }))
    const { get } = world.platform.requests
    expect((await world.go(ORDERS)).action.reason).toBe('InSync')
    expect(world.platform.requests.get).toBe(get + 1)
  })
})

test('a pipe whose old name a manifest has by policy.renamedFrom, and that no record holds, is asked about', async () => {
  const world = await listing([])
  const id = make(world, 'orders', { topics: 'else' })
  world.write('sales.yaml', pipe('sales', { topics: 'orders', policy: { renamedFrom: ORDERS } }))
  await world.go('Pipe/sales')
  const { Synced } = await world.conditions('Pipe/sales')
  expect(Synced.reason).toBe('Ambiguous')
  expect(conditionMessage(Synced)).toContain(`Pipe ${id} has the name "orders", and no manifest holds it.`)
})
