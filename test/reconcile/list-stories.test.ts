import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { adoptAs } from '../../src/reconcile/operator/adopt.ts'
import { forgetKey } from '../../src/reconcile/operator/operate.ts'
import { retryCreate } from '../../src/reconcile/operator/resolve.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { given, type Given, type ProcessOptions } from './given.ts'
import { during, LISTING } from './given-listing.ts'
import { lock, manifest } from './manifests.ts'
import { idOf, play, rowsOf, worldAfter } from './story.ts'

/* What the list comes to in the company of everything else: in each story the creates are counted. */

const ORDERS: Key = 'Pipe/orders'
const NEVER = new AbortController().signal
const LISTED = { profile: LISTING, maxCreates: Infinity }
/** A turn of each pipe, when it says, for a minute. */
async function passes(world: Given): Promise<void> {
  for (const key of world.keys()) if (key.startsWith('Pipe/')) await during(world, key, 60_000)
}

/** A story goes on with an empty ledger and without files. */
async function withoutLedger(before: Given, text: string, options: ProcessOptions = LISTED): Promise<Given> {
  for (const record of await before.around.ledger.list()) await before.around.ledger.remove(record, [])
  before.around.directory.files.clear()
  return play(await given({}, { ...options, around: before.around }), text)
}

function names(world: Given): readonly string[] {
  return [...world.platform.pipes.values()]
    .map(({ body }) => JSON.stringify(body['name']))
    .toSorted((a, b) => a.localeCompare(b))
}

test('60 pipes whose ledger is lost are adopted, all at once and under a create limit of one: a few lists', async () => {
  const all = Array.from({ length: 60 }, (_, index) => `make pipe-${index}; write pipe-${index}`)
  const world = await worldAfter(all.join('; '), {}, { profile: LISTING, maxCreates: 1 })
  await Promise.all(world.keys().map((key) => world.request(key)))
  expect(world.platform.posts).toHaveLength(0)
  expect(world.platform.requests.list).toBeLessThanOrEqual(3)
  const records = (await world.around.ledger.list()).filter(({ key }) => key.startsWith('Pipe/'))
  expect(new Set(records.map(({ remote }) => remote?.id)).size).toBe(60)
  expect(records.every(({ remote }) => remote?.origin === 'adopted')).toBe(true)
})

describe('a ledger that is lost', () => {
  const MADE = 'write orders; look orders; 1 h'

  test('with a pipe that was renamed since, whose old name the platform has: it is asked about', async () => {
    const before = await worldAfter(MADE, {}, LISTED)
    const [id] = before.platform.pipes.keys()
    const world = await withoutLedger(
      before,
      `write sales topics=orders renamedFrom=Pipe/orders; look sales: Ambiguous;
      tells sales: Pipe ${id} has the name "orders" and no manifest.`,
    )
    expect(world.platform.posts).toHaveLength(1)
    // once its old name is that of another manifest, which has it, it is a new one
    await play(world, 'write orders; look orders: Adopt the list; look sales')
    expect(names(world)).toHaveLength(world.platform.posts.length)
  })

  const NEXT = `
    was renamed and kept its name | sales name=orders topics=orders renamedFrom=Pipe/orders | Adopt the list | 1
    replaced one of another name | next replaces=Pipe/orders | Adopt the list | 2
    replaced one of its name | next name=orders replaces=Pipe/orders | Ambiguous | 2`
  test.each(rowsOf(NEXT))('with a pipe that %s: no resource is created', async (_, file, reason, creates) => {
    const sent = Number(creates)
    const [key] = file.split(' ')
    const before = await worldAfter(
      sent === 1 ? MADE : `${MADE}; remove orders; write ${file}; read again; look ${key}; 1 h`,
      {},
      LISTED,
    )
    expect(before.platform.posts).toHaveLength(sent)
    const world = await withoutLedger(before, `write ${file}; look ${key}: ${reason}`)
    await passes(world)
    expect(world.platform.posts).toHaveLength(sent)
  })

  test.each([
    { names: 'the pipe', id: (own: string) => own },
    { names: 'one that is not there', id: () => '99999999-0000-4000-8000-000000000009' },
  ])('with a Lock that names $names: no resource is created', async ({ id }) => {
    const before = await worldAfter(`${MADE}; make orders`, {}, LISTED)
    const [own = ''] = before.platform.pipes.keys()
    const world = await withoutLedger(before, 'write orders')
    world.write('lock.yaml', lock({ [ORDERS]: id(own) }))
    const results = await during(world, ORDERS, 3_600_000)
    expect(results[0]?.action).toMatchObject({ type: 'adopt', reason: 'Adopt' })
    expect((await world.record(ORDERS)).remote?.id).toBe(id(own) === own ? own : undefined)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('with a Lock for one of two that are alike: the other one is adopted by the other', async () => {
    const before = await worldAfter('write orders; write sales; look orders; look sales; 1 h', {}, LISTED)
    const [orders = ''] = before.platform.pipes.keys()
    const world = await withoutLedger(before, 'write orders; write sales')
    world.write('lock.yaml', lock({ [ORDERS]: orders }))
    await passes(world)
    expect(await idOf(world, ORDERS)).toBe(orders)
    expect((await world.record('Pipe/sales')).remote?.origin).toBe('adopted')
    expect(world.platform.posts).toHaveLength(2)
  })
})

describe('two Services with two keys to one service', () => {
  const serviceId = SERVICE_ID.toUpperCase()
  const credentials = { secretRef: { name: 'other' } }
  const OTHER_SERVICE = manifest(
    'Service',
    'other',
    {},
    { organizationId: ORGANIZATION, serviceId, credentials },
  )

  function addService(world: Given): Given {
    world.secrets.mounted.set('other/keyId', 'id').set('other/keySecret', 'secret')
    world.write('other.yaml', OTHER_SERVICE)
    return world
  }

  test('and two pipes: each is created once, and both are found again', async () => {
    const files = 'write a; write b service=other'
    const world = await play(addService(await given({}, LISTED)), files)
    await Promise.all(['Pipe/a', 'Pipe/b'].map((key) => world.request(key as Key)))
    expect(names(world)).toEqual(['"a"', '"b"'])
    const again = addService(await withoutLedger(world, files))
    await passes(again)
    expect(again.platform.posts).toHaveLength(2)
  })

  test.each([...Array(24).keys()])(
    'and two manifests of one pipe, whose ledger is lost, looked at at once: one of them has it (%i)',
    async (seed) => {
      const before = await play(addService(await given({}, LISTED)), 'write orders; look orders')
      let calls = seed
      // the two meet at ever other points
      const hops = () => {
        calls = (calls * 7 + 3) % 31
        return calls % ((seed % 12) + 1)
      }
      const copy = `write copy name=orders topics=orders service=${seed % 2 === 0 ? 'other' : 'analytics'}`
      const files = `write orders name=orders; ${copy}`
      const world = addService(await withoutLedger(before, files, { profile: LISTING, hops }))
      await Promise.all([ORDERS, 'Pipe/copy' as const].map((key) => world.request(key)))
      await passes(world)
      const records = await world.around.ledger.list()
      expect(records.filter(({ remote }) => remote !== undefined)).toHaveLength(1)
      expect(world.platform.posts).toHaveLength(1)
    },
  )
})

function lost(how = 'lost after the work'): Promise<Given> {
  return worldAfter(`write orders; create: ${how}; look orders; 20 min`, {}, LISTED)
}

describe('what a person says in between', () => {
  test.each(['resolve --retry', 'policy.retryCreate'])(
    '%s, wrongly: the list has it, and it is adopted',
    async (by) => {
      const world = await lost()
      if (by === 'resolve --retry') await retryCreate(world.context, ORDERS, { force: false })
      else await play(world, 'write orders retryCreate=@orders')
      await play(world, 'look orders: Adopt the list')
      await passes(world)
      expect(world.platform.posts).toHaveLength(1)
    },
  )

  test('resolve --retry, rightly: it is created, once', async () => {
    const world = await lost('lost')
    await retryCreate(world.context, ORDERS, { force: false })
    await play(world, 'look orders: New settled')
    await passes(world)
    expect(names(world)).toEqual(['"orders"'])
  })

  test('adopt for another key, while it may be the one of this: refused, and both are settled', async () => {
    const world = await play(await lost(), 'write copy name=orders topics=orders replaces=Pipe/orders')
    const [pipeId = ''] = world.platform.pipes.keys()
    const { result } = await adoptAs(world.context, { key: 'Pipe/copy', pipeId, command: 'adopt' }, NEVER)
    expect(result).toBe('refused')
    await play(world, 'look orders: Adopt the list')
    expect(world.platform.posts).toHaveLength(1)
  })

  test('adopt for this key, at the same time as the list finds it: it is recorded once', async () => {
    const world = await lost()
    const [pipeId = ''] = world.platform.pipes.keys()
    const adopting = adoptAs(world.context, { key: ORDERS, pipeId, command: 'resolve' }, NEVER)
    await Promise.all([adopting, world.request(ORDERS)])
    await passes(world)
    expect(await idOf(world, ORDERS)).toBe(pipeId)
    expect(world.platform.posts).toHaveLength(1)
  })

  test.each([
    ['and its manifest comes back: it is adopted', 'write orders; look orders: Adopt the list'],
    [
      'of a pipe that another one is to replace, and that is like it: a person is asked',
      'write next name=orders replaces=Pipe/orders; look next: Ambiguous',
    ],
  ])('forget, %s', async (_, next) => {
    const gone = 'remove orders; read again; look orders'
    const world = await worldAfter(
      `write orders; write other; look orders; look other; 1 h; ${gone}`,
      {},
      LISTED,
    )
    expect((await forgetKey(world.context, ORDERS)).result).toBe('done')
    await play(world, `1 h; ${next}`)
    expect(world.platform.posts).toHaveLength(2)
  })
})
