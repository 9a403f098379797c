import { fineReason } from '../support/fine-reason.ts'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { Json } from '../../src/lib/json.ts'
import type { ErrorClass } from '../../src/contract/remote-error.ts'
import { PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { ODD, type RemoteResource } from '../../src/kinds/remote-resource.ts'
import { createDryPlatform } from '../../src/reconcile/dry-run/dry-platform.ts'
import { listedResources } from '../../src/platform/wire.ts'
import { ORGANIZATION, OTHER_SERVICE_ID, SERVICE_ID } from '../support/manifests.ts'
import { type Given, HOUR, MINUTE } from './given.ts'
import { during, listedStory, listedWorld } from './given-listing.ts'
import { lock, pipeBodyOf, service } from './manifests.ts'
import type { Script } from './model-script.ts'
import { planOf } from './plan-of.ts'
import { fails, play } from './story.ts'

/*
 * What the list of all pipes of a service settles, and what it does not (design §14), over hours: in one process, by a clock that the test
 * moves. The same with the real program: `test/clickhouse-cloud/list.test.ts`.
 */

const ORDERS: Key = 'Pipe/orders'
const OTHER: Key = 'Pipe/other'
const NEW: Key = 'Pipe/new'

const GONE = fails('Missing')

const LOST = 'write orders; create: lost; look orders: unknown; 1 min'
const LOST_AFTER_THE_WORK = LOST.replace('lost', 'lost after the work')
const MADE = 'write orders; look orders; 1 h; look orders; 1 min'

describe('a create of unknown outcome, its manifest edited since', () => {
  test.each([
    ['the body', 'topics=edited'],
    ['the name', 'name=renamed'],
    ['both', 'topics=edited name=renamed'],
  ])(
    'in %s, finds its pipe as it was asked for then, also beside one as asked for now',
    async (_, edited) => {
      const edit = `${LOST_AFTER_THE_WORK}; write orders ${edited}`
      const world = await listedWorld(
        // what was edited since shows
        `${edit}; look orders: Adopt the list; look orders: NotUpdatable`,
        { sent: 1, holds: { [ORDERS]: '1' } },
      )
      expect((await world.record(ORDERS)).platformName).toBe('orders')
      // of one name, a person is asked
      const isOneName = !edited.includes('name')
      await listedStory(
        `${edit}; make orders ${edited}; look orders: ${isOneName ? 'Ambiguous' : 'Adopt the list'}`,
        { sent: 1, holds: isOneName ? {} : { [ORDERS]: '1' } },
      )
    },
  )
})

test('a pipe that is gone, its manifest edited since, is not taken for one as asked for before', async () => {
  const world = await listedWorld(
    `${MADE}; delete orders; make orders; write orders topics=edited recreate=#1; look orders: Ambiguous`,
    { sent: 1, holds: { [ORDERS]: '1' } },
  )
  const { facts } = (await world.conditions(ORDERS)).Synced
  expect(facts).toMatchObject({ differs: ['source.kafka.topics'] })
})

describe('a create of unknown outcome does not take for its own', () => {
  const STILL = 'look orders: refuse OutcomeUnknown'

  test('a pipe that is older, and was not in the list then', async () => {
    const world = await listedWorld('write orders; make orders; 1 h; create: lost')
    world.platform.listed = () => []
    await world.go(ORDERS)
    world.platform.listed = (there) => there
    await play(world, `1 min; ${STILL}`)
    expect((await world.record(ORDERS)).remote).toBeUndefined()
    expect(world.platform.posts).toHaveLength(1)
  })

  test('one in the service that its manifest names now, nor one that the list says is of another service', async () => {
    const world = await listedWorld(LOST)
    world.write('service-2.yaml', service('other', OTHER_SERVICE_ID))
    world.platform.make(OTHER_SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders') })
    await play(world, `write orders service=other; ${STILL}`)
    expect((await world.record(ORDERS)).remote).toBeUndefined()
    const listed = await listedWorld(`${LOST}; make orders`)
    listed.platform.listed = (there) => there.map((item) => ({ ...item, serviceId: OTHER_SERVICE_ID }))
    await play(listed, STILL)
    expect((await listed.record(ORDERS)).remote).toBeUndefined()
    expect([world, listed].map(({ platform }) => platform.posts.length)).toEqual([1, 1])
  })

  test('the one that was given up for it', async () => {
    const world = await listedWorld('write orders; look orders; 1 h; look orders; hide orders; create: lost')
    await during(world, ORDERS, 25 * MINUTE)
    expect(world.platform.posts).toHaveLength(2)
    world.platform.hidden.clear()
    world.platform.listed = (items) => items.map((item) => ({ ...item, createdAt: null }))
    await play(world, `1 min; ${STILL}`)
    expect((await world.record(ORDERS)).remote).toBeUndefined()
  })

  test('one that another key has', () =>
    listedStory(
      `write copy name=orders topics=orders; look copy; write orders replaces=Pipe/copy; create: lost; look orders;
      1 min; ${STILL}`,
      { sent: 2, holds: { 'Pipe/copy': '1' } },
    ))
})

describe('a pipe that the list shows as equal, and that is by its id', () => {
  const cases: readonly { readonly by: string; readonly reading: Script; readonly said: string }[] = [
    { by: 'of other values', reading: { type: 'other', change: { source: {} } }, said: 'unlike the list' },
    { by: 'of another name', reading: { type: 'other', change: { name: 'x' } }, said: 'unlike the list' },
    { by: 'not there', reading: GONE, said: '"isListed":true' },
  ]

  test.each(cases)(
    '$by, is not taken, nor another one made; it is looked at ever more rarely',
    async (row) => {
      const world = await listedWorld('write orders; make orders')
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
  const LOOKS = NAMES.map((name) => `look ${name}`).join('; ')

  /** Four that were made an hour ago; three of them are not there any more. */
  async function threeAway(settings: (number: number) => string): Promise<Given> {
    const world = await listedWorld(
      `${NAMES.map((name) => `write ${name}`).join('; ')}; ${LOOKS}; 1 h; ${LOOKS}`,
    )
    const away = ['a', 'b', 'c'].map((name, at) => `delete ${name}; write ${name} ${settings(at + 1)}`)
    return play(world, `${away.join('; ')}; write new; 1 min`)
  }

  test('are too many to believe it, when nobody knows why', async () => {
    const world = await threeAway(() => '')
    const { action } = await world.go(NEW)
    expect(action).toMatchObject({ reason: 'MassMissing', facts: { missing: 3, of: 4 } })
    expect(world.platform.posts).toHaveLength(4)
  })

  test.each([
    ['a person says that they are deleted', (number: number) => `recreate=#${number}`],
    ['they are suspended', () => 'suspended'],
  ])('are no doubt about it when %s', async (_, settings) => {
    await play(await threeAway(settings), 'look new: create New')
  })

  test('are no doubt about it once their 404s are confirmed', async () => {
    const world = await threeAway(() => 'onMissing=report')
    for (let look = 0; look < 5; look += 1) await play(world, `${LOOKS}; 35 s`)
    await play(world, 'look new: create New')
  })

  test('are a doubt again when the list is empty: one of one is enough', async () => {
    const world = await listedWorld('write a; look a; 1 h; write new')
    world.platform.listed = () => []
    await play(world, 'look new: MassMissing')
  })
})

test('a list that is older than the last reading of a pipe says nothing of it', async () => {
  const world = await listedWorld(
    'write orders; write other; look orders; look other; 1 h; look other: InSync',
  )
  const { list } = world.platform.requests
  await play(world, '1 s; edit #1 replicas=7')
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
  await play(world, '1 s; look orders: Drifted')
  expect(world.platform.requests.list).toBe(list + 1)
  // while one that was begun since does
  await play(world, 'look other: InSync')
  expect(world.platform.requests.list).toBe(list + 1)
})

test('a plan reads a pipe that differs in a list, which can lag, as apply does', async () => {
  const world = await listedWorld('write orders; look orders; 1 h; look orders')
  world.platform.listed = (there) => there.map(changed)
  await world.clock.advance(MINUTE)
  const { items } = await planOf({ context: world.context, ledger: world.around.ledger })
  expect(items.find(({ key }) => key === ORDERS)?.reason).toBe('InSync')
  await play(world, 'look orders: InSync')
})

test('a plan finds in the list of a service what it created there, and in no other list', async () => {
  const { platform, context } = await listedWorld('make theirs')
  const plan = createDryPlatform(platform, context)
  const here = { name: 'a', organizationId: ORGANIZATION, serviceId: SERVICE_ID, secretName: 'api' }
  const there = { ...here, serviceId: OTHER_SERVICE_ID }
  const asked = { priority: 1, signal: new AbortController().signal } as const
  const permit = await plan.admitCreate(PIPE, here, { ...asked, looks: 1 })
  await permit.send({ body: '{"name":"ours"}', intentId: '', notAfter: 0 })
  const listed = [plan.list(PIPE, here, asked), permit.list(PIPE, asked), plan.list(PIPE, there, asked)]
  const names = (await Promise.all(listed)).map(({ value }) => value.map(({ name }) => name))
  expect(names).toEqual([['theirs', 'ours'], ['theirs', 'ours'], []])
})

describe('pipes whose ids are named', () => {
  const NAMES = ['a', 'b', 'c', 'd'] as const

  async function named(change: (world: Given) => unknown = () => undefined) {
    const all = NAMES.map((name, at) => `make ${name}; write ${name} adopt=#${at + 1}`)
    const world = await listedWorld(all.join('; '))
    await change(world)
    const results = []
    for (const name of NAMES) results.push(await world.go(`Pipe/${name}`))
    for (const name of NAMES) expect((await world.record(`Pipe/${name}`)).remote?.origin).toBe('adopted')
    return {
      requests: world.platform.requests,
      reasons: results.map(({ outcome }) => 'reason' in outcome && outcome.reason),
    }
  }

  test('are read if they differ from their manifests', async () => {
    const { requests, reasons } = await named((world) => play(world, 'edit #1 replicas=7'))
    expect(requests).toMatchObject({ get: 1, list: 1 })
    expect(reasons).toEqual(['Drifted', 'Adopted', 'Adopted', 'Adopted'])
  })

  test('are read if a person says that they are deleted: a list can lag', async () => {
    const world = await listedWorld('make a; write a recreate=#1; get: gone for ever')
    world.write('lock.yaml', lock({ 'Pipe/a': [...world.platform.pipes.keys()][0] ?? '' }))
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
    const world = await listedWorld(
      'write other; look other; 1 min; make a; write a adopt=#2; look a: Adopted; delete a',
    )
    const reasons = new Set<string>()
    for (let minute = 0; minute < 20; minute += 1) {
      await world.go(OTHER)
      reasons.add((await world.go('Pipe/a')).action.reason)
      await world.clock.advance(MINUTE)
    }
    expect(world.platform.posts).toHaveLength(1)
    expect([...reasons]).toEqual(['MissingUnconfirmed', 'NeverSeen'])
  })
})

describe("a list that is answered with the platform's own 404 for ever", () => {
  test.each([
    { after: 'for ever', ms: HOUR },
    { after: 'until it is asked for a last time', ms: 16 * MINUTE },
  ])('is no last look at a pipe that is not found $after: no second one is made', async ({ ms }) => {
    const world = await listedWorld(`${MADE}; list: gone for ever; get: gone for ever`)
    const results = await during(world, ORDERS, ms)
    // it was confirmed, and the create stood before the list
    expect(results.some(({ outcome }) => outcome.result === 'failed')).toBe(true)
    world.platform.always('get', 'ok')
    await during(world, ORDERS, HOUR)
    expect(world.platform.posts).toHaveLength(1)
    await play(world, 'look orders: InSync')
  })
})

describe('a list that fails', () => {
  test.each<readonly [ErrorClass, most: number, reason: string]>([
    // as often as it says, and otherwise ever more rarely
    ['Throttled', 200, 'RateLimited'],
    ['ServiceIdle', 25, 'ServiceIdle'],
    ['Unavailable', 25, 'Unavailable'],
    ['BadReply', 25, 'Unavailable'],
    ['AuthFailed', 25, 'AuthFailed'],
    ['Missing', 25, ''],
  ])(
    'with %s creates nothing, harms nothing that is there, and is over when it is',
    async (of, most, reason) => {
      const world = await listedWorld(MADE)
      world.platform.always('list', fails(of))
      const { list } = world.platform.requests
      await play(world, 'write new')
      const results = await during(world, NEW, 20 * MINUTE)
      for (const { outcome } of results)
        expect(outcome).toMatchObject({ result: 'failed', ...(reason !== '' && { reason }) })
      expect(world.platform.posts).toHaveLength(1)
      expect(results.length).toBeGreaterThan(5)
      expect(world.platform.requests.list - list).toBeLessThanOrEqual(most)
      // what is there is asked for by its id, unless whoever asks is to wait
      const mustWait = of === 'Throttled' || of === 'ServiceIdle'
      await play(world, `1 min; look orders: ${mustWait ? 'failed' : 'done'}`)
      expect((await world.record(ORDERS)).remote).toBeDefined()
      world.platform.always('list', 'ok')
      await during(world, NEW, 10 * MINUTE)
      await during(world, ORDERS, 10 * MINUTE)
      expect(world.platform.posts).toHaveLength(2)
      await play(world, 'look orders: InSync')
    },
  )
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
  type Listed = (there: readonly RemoteResource[]) => readonly RemoteResource[]

  test.each<readonly [is: string, listed: Listed, reason: string]>([
    ['with everything twice', (there) => [...there, ...there], 'Adopt the list'],
    ['with everything twice, once as it was', (there) => [...there, ...there.map(changed)], 'Ambiguous'],
    ['the other way round', (there) => [...there.map(changed), ...there], 'Adopt the list'],
    ['with all twice, once in capital letters', (there) => [...there, ...there.map(upper)], 'Adopt the list'],
    ['with ids in capital letters', (there) => there.map(upper), 'Adopt the list'],
    ['without names', (there) => there.map(nameless), 'Ambiguous'],
  ])('%s: no resource is created a second time', async (_, listed, reason) => {
    const world = await listedWorld('write orders; make orders')
    const { pipes } = world.platform
    const [there] = pipes.values()
    pipes.clear()
    if (there !== undefined) pipes.set(LETTERS, { ...there, id: LETTERS })
    world.platform.listed = listed
    const [first] = await during(world, ORDERS, 20 * MINUTE)
    expect(first && [first.action.reason, fineReason(first.action)]).toContain(reason)
    expect(world.platform.posts).toHaveLength(0)
    if (reason === 'Ambiguous') return
    expect((await world.record(ORDERS)).remote?.origin).toBe('adopted')
    const { get } = world.platform.requests
    await play(world, '1 h; look orders: InSync')
    // it is found there again
    expect(world.platform.requests.get).toBe(get)
  })

  test('with others without names, or with nothing but an id, holds back nothing that is new', async () => {
    const world = await listedWorld('write orders; make theirs')
    world.platform.listed = (there) => [...there.map(nameless), ...there.map(({ id }) => ({ id }))]
    await play(world, 'look orders: New')
  })
})

test('a list without names refuses no create once policy.replaces names its pipe, as the message advises', async () => {
  const world = await listedWorld('write orders; make orders')
  world.platform.listed = (there) => there.map(nameless)
  await play(world, 'look orders: Ambiguous; write orders replaces=#1; look orders: New')
})

describe('an odd item of a list', () => {
  const NAMED = { state: { status: 'Running' } }

  test.each([
    ['an object as a state', 'theirs', NAMED, 'New'],
    ['an object as a state, and the same name', 'orders', NAMED, 'Ambiguous'],
    ['no id', 'theirs', { id: null }, 'New'],
    ['no id, and the same name', 'orders', { id: null }, 'Ambiguous'],
    ['a number as a name, and another body', 'theirs', { name: 7 }, 'New'],
    ['a number as a name, and the same body', 'orders', { name: 7 }, 'Ambiguous'],
    ['no object', 'orders', null, 'New'],
    ['neither name nor source', 'theirs', { name: 7, source: 7 }, 'New'],
  ] as const)('with %s', async (_, name, item, reason) => {
    const world = await listedWorld(`write orders; make ${name}`)
    world.platform.listed = (there) => {
      const result = JSON.parse(JSON.stringify(there.map((each) => item && { ...each, ...item }))) as Json
      return listedResources(PIPE)({ result }) ?? []
    }
    await play(world, `look orders: ${reason}`)
    expect(world.platform.posts).toHaveLength(reason === 'New' ? 1 : 0)
    const reports = () => world.events.filter(({ type }) => type === 'ListItemsOdd')
    expect(reports(), 'one report').toHaveLength(1)
    if (reason !== 'Ambiguous') return
    const hasNoId = 'id' in item
    await play(
      world,
      `tells orders: set policy.adopt: ${hasNoId ? 'PIPE_ID' : '0'};
      tells orders: ${hasNoId ? 'at index 0 of the list' : '00000000-0000-4000-8000-000000000001'};
      1 min; look orders`,
    )
    expect(reports(), 'not of an equal list').toHaveLength(1)
  })

  test('is no reading of its pipe: that is asked for by its id', async () => {
    const world = await listedWorld('write orders; look orders; 1 h')
    world.platform.listed = (there) =>
      there.map((each) => ({ ...each, [ODD]: { index: 0, fields: ['state'] } }))
    const { get } = world.platform.requests
    await play(world, 'look orders: InSync')
    expect(world.platform.requests.get).toBe(get + 1)
  })
})

test('a pipe whose old name a manifest has by policy.renamedFrom, and that no record holds, is asked about', async () => {
  const world = await listedWorld(
    'make orders topics=else; write sales topics=orders renamedFrom=Pipe/orders; look sales',
  )
  const [id] = world.platform.pipes.keys()
  await play(world, `shown sales: Ambiguous; tells sales: Pipe ${id} has the name "orders" and no manifest.`)
})
