import { conditionMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { adoptAs } from '../../src/reconcile/operator/adopt.ts'
import { forgetKey } from '../../src/reconcile/operator/operate.ts'
import { retryCreate } from '../../src/reconcile/operator/resolve.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { given, HOUR, MINUTE, type Given, type ProcessOptions } from './given.ts'
import { during, LISTING } from './given-listing.ts'
import { lock, manifest, pipe, pipeBodyOf } from './manifests.ts'

/* What the list comes to in the company of everything else: in each story the creates are counted. */

const ORDERS: Key = 'Pipe/orders'
const NEVER = new AbortController().signal

async function passes(world: Given): Promise<readonly string[]> {
  const results = []
  for (const key of world.keys().filter((one) => one.startsWith('Pipe/')))
    results.push((await during(world, key, MINUTE)).at(-1))
  return results.map((result) => `${result?.action.type} ${result?.action.reason}`)
}

/** The files with an empty ledger, on the platform that was. */
async function withoutLedger(
  before: Given,
  files: Readonly<Record<string, string>>,
  options: ProcessOptions = {},
): Promise<Given> {
  for (const record of await before.around.ledger.list()) await before.around.ledger.remove(record, [])
  before.around.directory.files.clear()
  return given(files, { around: before.around, profile: LISTING, ...options })
}

async function made(files: Readonly<Record<string, string>>): Promise<Given> {
  const world = await given(files, { profile: LISTING, maxCreates: Infinity })
  for (const key of world.keys()) if (key.startsWith('Pipe/')) await world.go(key)
  await world.clock.advance(HOUR)
  return world
}

function make(world: Given, name: string, topics = name): string {
  return world.platform.make(SERVICE_ID, { name, ...pipeBodyOf(name, { topics }) })
}

function names(world: Given): readonly string[] {
  return [...world.platform.pipes.values()]
    .map(({ body }) => JSON.stringify(body['name']))
    .toSorted((a, b) => a.localeCompare(b))
}

describe('60 pipes whose ledger is lost', () => {
  const NAMES = Array.from({ length: 60 }, (_, index) => `pipe-${index}`)
  const FILES = Object.fromEntries(NAMES.map((name) => [`${name}.yaml`, pipe(name)]))

  test('are adopted, all at once and under a create limit of one: no create, and a few lists', async () => {
    const world = await given(FILES, { profile: LISTING, maxCreates: 1 })
    for (const name of NAMES) make(world, name)
    await Promise.all(world.keys().map((key) => world.request(key)))
    expect(world.platform.posts).toHaveLength(0)
    expect(world.platform.requests.list).toBeLessThanOrEqual(3)
    const records = (await world.around.ledger.list()).filter(({ key }) => key.startsWith('Pipe/'))
    expect(new Set(records.map(({ remote }) => remote?.id)).size).toBe(60)
    expect(records.every(({ remote }) => remote?.origin === 'adopted')).toBe(true)
  })
})

describe('a ledger that is lost', () => {
  test('with a pipe that was renamed since, whose old name the platform has: it is asked about', async () => {
    const before = await made({ 'orders.yaml': pipe('orders') })
    const files = { 'sales.yaml': pipe('sales', { topics: 'orders', policy: { renamedFrom: ORDERS } }) }
    const world = await withoutLedger(before, files)
    const [id] = world.platform.pipes.keys()
    await world.go('Pipe/sales')
    expect((await world.conditions('Pipe/sales')).Synced).toMatchObject({ reason: 'Ambiguous' })
    expect(conditionMessage((await world.conditions('Pipe/sales')).Synced, 'Pipe/sales')).toContain(
      `Pipe ${id} has the name "orders", and no manifest holds it.`,
    )
    expect(world.platform.posts).toHaveLength(1)
    // once its old name is that of another manifest, which has it, it is a new one
    world.write('orders.yaml', pipe('orders'))
    expect((await world.go(ORDERS)).action.reason).toBe('FoundByList')
    await world.go('Pipe/sales')
    expect(names(world)).toHaveLength(world.platform.posts.length)
  })

  test('with a pipe that was renamed and kept its name: it is adopted', async () => {
    const before = await made({ 'orders.yaml': pipe('orders') })
    const renamed = { platformName: 'orders', topics: 'orders', policy: { renamedFrom: ORDERS } }
    const world = await withoutLedger(before, { 'sales.yaml': pipe('sales', renamed) })
    expect((await world.go('Pipe/sales')).action.reason).toBe('FoundByList')
    expect(world.platform.posts).toHaveLength(1)
  })

  test.each([
    { of: 'another name', options: {}, reason: 'FoundByList' },
    { of: 'the same name', options: { platformName: 'orders' }, reason: 'Ambiguous' },
  ])('with a pipe that replaced another one, of $of: no resource is created', async ({ options, reason }) => {
    const before = await made({ 'orders.yaml': pipe('orders') })
    const files = { 'next.yaml': pipe('next', { ...options, policy: { replaces: ORDERS } }) }
    before.remove('orders.yaml')
    before.write('next.yaml', files['next.yaml'])
    before.readAgain()
    await before.go('Pipe/next')
    expect(before.platform.posts).toHaveLength(2)
    await before.clock.advance(HOUR)
    const world = await withoutLedger(before, files)
    expect((await world.go('Pipe/next')).action.reason).toBe(reason)
    await passes(world)
    expect(world.platform.posts).toHaveLength(2)
  })

  test.each([
    { names: 'the pipe', id: (own: string) => own, reason: 'adopt Adopt' },
    {
      names: 'one that is not there',
      id: () => '99999999-0000-4000-8000-000000000009',
      reason: 'adopt Adopt',
    },
  ])('with a Lock that names $names: no resource is created', async ({ id }) => {
    const before = await made({ 'orders.yaml': pipe('orders') })
    const [own = ''] = before.platform.pipes.keys()
    make(before, 'orders')
    const world = await withoutLedger(before, {
      'orders.yaml': pipe('orders'),
      'lock.yaml': lock({ [ORDERS]: id(own) }),
    })
    const results = await during(world, ORDERS, HOUR)
    expect(results[0]?.action).toMatchObject({ type: 'adopt', reason: 'Adopt' })
    expect((await world.record(ORDERS)).remote?.id).toBe(id(own) === own ? own : undefined)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('with a Lock for one of two that are alike: the other one is adopted by the other', async () => {
    const before = await made({ 'orders.yaml': pipe('orders'), 'sales.yaml': pipe('sales') })
    const [orders = ''] = before.platform.pipes.keys()
    const world = await withoutLedger(before, {
      'orders.yaml': pipe('orders'),
      'sales.yaml': pipe('sales'),
      'lock.yaml': lock({ [ORDERS]: orders }),
    })
    await passes(world)
    expect((await world.record(ORDERS)).remote?.id).toBe(orders)
    expect((await world.record('Pipe/sales')).remote?.origin).toBe('adopted')
    expect(world.platform.posts).toHaveLength(2)
  })
})

describe('two Services with two keys to one service', () => {
  const OTHER_SERVICE = manifest(
    'Service',
    'other',
    {},
    {
      organizationId: ORGANIZATION,
      serviceId: SERVICE_ID.toUpperCase(),
      credentials: { secretRef: { name: 'other' } },
    },
  )

  async function twoServices(files: Readonly<Record<string, string>>): Promise<Given> {
    const world = await given({ ...files, 'other.yaml': OTHER_SERVICE }, { profile: LISTING })
    world.secrets.mounted.set('other/keyId', 'id').set('other/keySecret', 'secret')
    return world
  }

  test('and two pipes: each is created once, and both are found again', async () => {
    const files = { 'a.yaml': pipe('a'), 'b.yaml': pipe('b', { service: 'other' }) }
    const world = await twoServices(files)
    await Promise.all(['Pipe/a', 'Pipe/b'].map((key) => world.request(key as Key)))
    expect(names(world)).toEqual(['"a"', '"b"'])
    const again = await withoutLedger(world, { ...files, 'other.yaml': OTHER_SERVICE })
    await passes(again)
    expect(again.platform.posts).toHaveLength(2)
  })

  test.each([...Array(24).keys()])(
    'and two manifests of one pipe, whose ledger is lost, looked at at once: one of them has it (%i)',
    async (seed) => {
      const alike = { platformName: 'orders', topics: 'orders' }
      const before = await twoServices({ 'orders.yaml': pipe('orders') })
      await before.go(ORDERS)
      let calls = seed
      // the two meet at ever other points
      const hops = () => {
        calls = (calls * 7 + 3) % 31
        return calls % ((seed % 12) + 1)
      }
      const world = await withoutLedger(
        before,
        {
          'other.yaml': OTHER_SERVICE,
          'orders.yaml': pipe('orders', alike),
          'copy.yaml': pipe('copy', { ...alike, service: seed % 2 === 0 ? 'other' : 'analytics' }),
        },
        { hops },
      )
      await Promise.all([ORDERS, 'Pipe/copy' as const].map((key) => world.request(key)))
      await passes(world)
      const records = await world.around.ledger.list()
      expect(records.filter(({ remote }) => remote !== undefined)).toHaveLength(1)
      expect(world.platform.posts).toHaveLength(1)
    },
  )
})

async function lost(worked = true): Promise<Given> {
  const world = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
  world.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked })
  await world.go(ORDERS)
  await world.clock.advance(20 * MINUTE)
  return world
}

describe('what a person says in between', () => {
  test.each(['resolve --retry', 'policy.retryCreate'])(
    '%s, wrongly: the list has it, and it is adopted',
    async (by) => {
      const world = await lost()
      const { intent } = await world.record(ORDERS)
      if (by === 'resolve --retry') {
        await retryCreate(world.context, ORDERS, { force: false })
      } else world.write('orders.yaml', pipe('orders', { policy: { retryCreate: intent?.id ?? '' } }))
      expect((await world.go(ORDERS)).action).toMatchObject({ type: 'adopt', reason: 'FoundByList' })
      await passes(world)
      expect(world.platform.posts).toHaveLength(1)
    },
  )

  test('resolve --retry, rightly: it is created, once', async () => {
    const world = await lost(false)
    await retryCreate(world.context, ORDERS, { force: false })
    expect((await world.go(ORDERS)).action.reason).toBe('RetryApproved')
    await passes(world)
    expect(names(world)).toEqual(['"orders"'])
  })

  test('adopt for another key, while it may be the one of this: refused, and both are settled', async () => {
    const world = await lost()
    const [id = ''] = world.platform.pipes.keys()
    world.write(
      'copy.yaml',
      pipe('copy', { platformName: 'orders', topics: 'orders', policy: { replaces: ORDERS } }),
    )
    const { result } = await adoptAs(world.context, { key: 'Pipe/copy', pipeId: id, word: 'adopt' }, NEVER)
    expect(result).toBe('refused')
    expect((await world.go(ORDERS)).action.reason).toBe('FoundByList')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('adopt for this key, at the same time as the list finds it: it is recorded once', async () => {
    const world = await lost()
    const [id = ''] = world.platform.pipes.keys()
    await Promise.all([
      adoptAs(world.context, { key: ORDERS, pipeId: id, word: 'resolve' }, NEVER),
      world.request(ORDERS),
    ])
    await passes(world)
    expect((await world.record(ORDERS)).remote?.id).toBe(id)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('forget, and its manifest comes back: it is adopted', async () => {
    const world = await made({ 'orders.yaml': pipe('orders'), 'other.yaml': pipe('other') })
    world.remove('orders.yaml')
    world.readAgain()
    await world.go(ORDERS)
    expect((await forgetKey(world.context, ORDERS)).result).toBe('done')
    await world.clock.advance(HOUR)
    world.write('orders.yaml', pipe('orders'))
    expect((await world.go(ORDERS)).action.reason).toBe('FoundByList')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('forget of a pipe that another one is to replace, and that is like it: a person is asked', async () => {
    const world = await made({ 'orders.yaml': pipe('orders'), 'other.yaml': pipe('other') })
    world.remove('orders.yaml')
    world.readAgain()
    await world.go(ORDERS)
    await forgetKey(world.context, ORDERS)
    await world.clock.advance(HOUR)
    world.write('next.yaml', pipe('next', { platformName: 'orders', policy: { replaces: ORDERS } }))
    expect((await world.go('Pipe/next')).action.reason).toBe('Ambiguous')
    expect(world.platform.posts).toHaveLength(2)
  })
})
