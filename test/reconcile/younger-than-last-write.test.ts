import { conditionMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import type { ErrorClass } from '../../src/contract/remote-error.ts'
import type { Key } from '../../src/kinds/key.ts'
import { createLastWrites } from '../../src/reconcile/state/last-writes.ts'
import { given, type Given, HOUR, MINUTE, SECOND } from './given.ts'
import { during, LISTING } from './given-listing.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { pipe, pipeBodyOf } from './manifests.ts'

/* Before a request that changes something, every shared reading is younger than the last such request of its key. */

const ORDERS: Key = 'Pipe/orders'
const VICTIM: Key = 'Pipe/victim'

/** The platform creates a pipe and answers that it did not. */
function lying(errorClass: ErrorClass) {
  return { type: 'fail', class: errorClass, effect: 'none', worked: true } as const
}

/** Another key asked for the list so long before the first attempt. */
async function listedBefore(ms: number): Promise<Given> {
  const world = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
  await world.go(ORDERS)
  await world.clock.advance(ms)
  world.write('victim.yaml', pipe('victim'))
  return world
}

function victims(world: Given): number {
  return world.platform.posts.filter(({ body }) => body['name'] === 'victim').length
}

describe('a create that is answered with an error and was carried out', () => {
  const rows: readonly ErrorClass[] = ['Rejected', 'Throttled', 'ServiceIdle', 'AuthFailed', 'Unavailable']

  test.each(rows.flatMap((of) => [0, 1, 3 * SECOND, 9 * SECOND].map((ms) => ({ of, ms }))))(
    '$of, $ms ms after a list of another key: the next attempt reads the list again and finds the pipe',
    async ({ of, ms }) => {
      const world = await listedBefore(ms)
      world.platform.script('create', lying(of))
      const [, ...next] = await during(world, VICTIM, MINUTE)
      expect(next[0]?.action).toMatchObject({ type: 'adopt', reason: 'FoundByList' })
      expect(victims(world)).toBe(1)
    },
  )

  test('twice, the second time after the list had nothing: every attempt has a list of its own', async () => {
    const world = await listedBefore(SECOND)
    const nothing = { type: 'fail', class: 'Rejected', effect: 'none', worked: false } as const
    world.platform.script('create', nothing, lying('Rejected'))
    await during(world, VICTIM, 5 * MINUTE)
    expect(victims(world)).toBe(2)
    expect(world.platform.pipes.size).toBe(2)
  })

  test('and whose manifest goes and comes back in a moment: the pipe is found', async () => {
    const world = await listedBefore(SECOND)
    world.platform.script('create', lying('Rejected'))
    await world.go(VICTIM)
    world.remove('victim.yaml')
    world.readAgain()
    await world.go(VICTIM)
    world.write('victim.yaml', pipe('victim'))
    expect((await world.go(VICTIM)).action.reason).toBe('FoundByList')
    expect(victims(world)).toBe(1)
  })

  test.each([false, true])(
    'and whose manifest is renamed in a moment (it is forgotten: %s): the pipe is found',
    async (isForgotten) => {
      const world = await listedBefore(SECOND)
      world.platform.script('create', lying('Rejected'))
      await world.go(VICTIM)
      world.remove('victim.yaml')
      world.write('renamed.yaml', pipe('renamed', { platformName: 'victim', topics: 'victim' }))
      if (isForgotten) {
        world.readAgain()
        await world.go(VICTIM)
      }
      expect((await world.go('Pipe/renamed')).action.reason).toBe('FoundByList')
      expect(victims(world)).toBe(1)
    },
  )
})

test('ten keys that were never sent share one list', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `pipe-${index}`)
  const files = Object.fromEntries(names.map((name) => [`${name}.yaml`, pipe(name)]))
  const world = await given(files, { profile: LISTING })
  for (const name of names) await world.go(`Pipe/${name}`)
  expect(world.platform.posts).toHaveLength(10)
  expect(world.platform.requests.list).toBe(1)
})

test('a create on a list from before the last attempt throws, and nothing is sent', async () => {
  const world = await listedBefore(SECOND)
  const { listings } = world.context.store
  world.platform.script('create', { ...lying('Rejected'), worked: false })
  await world.go(VICTIM)
  const [stale] = [...listings.all()].map(([, listing]) => listing)
  if (stale === undefined) throw new Error('there is no list')
  Object.assign(listings, { since: async () => stale })
  await world.clock.advance(MINUTE)
  await expect(world.go(VICTIM)).rejects.toThrow('on a reading from before its last request')
  expect(victims(world)).toBe(1)
})

test.each<ErrorClass>(['Rejected', 'Throttled', 'AuthFailed'])(
  'a create that is answered with %s and was carried out, and whose manifest is renamed before the next attempt',
  async (of) => {
    const world = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
    world.platform.script('create', lying(of))
    await world.go(ORDERS)
    world.remove('orders.yaml')
    world.write('renamed.yaml', pipe('renamed', { topics: 'orders' }))
    world.readAgain()
    await world.go(ORDERS)
    const [first] = await during(world, 'Pipe/renamed', 5 * MINUTE)
    expect(first?.action.reason).toBe('Ambiguous')
    expect(world.platform.pipes.size).toBe(1)
  },
)

test('a failed create that was carried out is known after a restart, too, whatever its manifest is named by then', async () => {
  const first = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
  first.platform.script('create', lying('Rejected'))
  await first.go(ORDERS)
  first.around.directory.files.set('orders.yaml', pipe('renamed', { topics: 'orders' }))
  const next = await given({}, { profile: LISTING, around: first.around })
  expect((await next.go('Pipe/renamed')).action.reason).toBe('Ambiguous')
  expect(next.platform.pipes.size).toBe(1)
})

test('a failed create of another process that was carried out is known to this one', async () => {
  const first = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
  const standby = await given({}, { profile: LISTING, around: first.around })
  first.platform.script('create', lying('Rejected'))
  await first.go(ORDERS)
  const { store } = standby.context
  const failed = await first.record(ORDERS)
  if (failed.intent === undefined) throw new Error('there is no attempt')
  store.note({ ...failed, intent: { ...failed.intent, state: 'open' } })
  store.note(failed)
  const created = { serviceId: SERVICE_ID, name: 'sales' }
  expect(store.lastWrites.endedAt({ key: 'Pipe/sales', created })).toBe(standby.clock.monotonic())
})

test('a failed create that was carried out is known after its manifest went and a restart', async () => {
  const first = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
  first.platform.script('create', lying('Rejected'))
  await first.go(ORDERS)
  first.remove('orders.yaml')
  first.readAgain()
  await first.go(ORDERS)
  const next = await given({}, { profile: LISTING, around: first.around })
  next.write('renamed.yaml', pipe('renamed', { topics: 'orders' }))
  expect((await next.go('Pipe/renamed')).action.reason).toBe('Ambiguous')
  await during(next, 'Pipe/renamed', 2 * HOUR)
  expect(next.platform.pipes.size).toBe(1)
})

test('a recreate that failed and was carried out is known after an edit of its name', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
  await world.go(ORDERS)
  const { id } = (await world.record(ORDERS)).remote ?? {}
  world.platform.pipes.delete(id ?? '')
  const gone = { policy: { recreate: id ?? '' } }
  world.write('orders.yaml', pipe('orders', gone))
  world.platform.script('create', lying('Rejected'))
  await world.go(ORDERS)
  expect(world.platform.posts).toHaveLength(2)
  world.write('orders.yaml', pipe('orders', { ...gone, platformName: 'orders-v2' }))
  await during(world, ORDERS, 5 * MINUTE)
  expect(world.platform.posts).toHaveLength(2)
})

test('a dismissed create that was carried out is known after a restart and an edit of its name', async () => {
  const first = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
  first.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true })
  first.platform.listed = () => []
  await first.go(ORDERS)
  const { intent } = await first.record(ORDERS)
  await first.clock.advance(20 * MINUTE)
  first.platform.listed = (items) => items
  const next = await given({}, { profile: LISTING, around: first.around })
  const policy = { retryCreate: intent?.id ?? '' }
  next.write('orders.yaml', pipe('orders', { platformName: 'orders-v2', topics: 'orders', policy }))
  expect((await next.go(ORDERS)).action.reason).toBe('Ambiguous')
  expect(next.platform.pipes.size).toBe(1)
})

async function withTheirs() {
  const world = await given({}, { profile: LISTING })
  const id = world.platform.make(SERVICE_ID, { ...pipeBodyOf('orders'), name: 'theirs' })
  world.write('orders.yaml', pipe('orders'))
  return { world, id }
}

describe('a pipe of the same source and table that no manifest holds', () => {
  test('stops a create under another name, until policy.replaces names it: then one is created', async () => {
    const { world, id } = await withTheirs()
    const { action } = await world.go(ORDERS)
    expect(action).toMatchObject({ reason: 'Ambiguous', facts: { ids: [id], listedAs: 'theirs' } })
    expect(conditionMessage((await world.conditions(ORDERS)).Synced, ORDERS)).toContain(
      `If not, set policy.replaces: ${id}.`,
    )
    world.write('orders.yaml', pipe('orders', { policy: { replaces: id.toUpperCase() } }))
    world.platform.script('create', lying('Rejected'))
    world.platform.listed = (items) => items.map((item) => ({ ...item, name: `${item.name} ` }))
    expect((await world.go(ORDERS)).action.reason).toBe('New')
    // The new pipe came after the words of its author.
    for (let hours = 0; hours < 3; hours += 1) {
      await world.clock.advance(60 * MINUTE)
      expect((await world.go(ORDERS)).action.reason).toBe('Ambiguous')
    }
    expect(world.platform.posts).toHaveLength(1)
  })

  test('stops it also where the service stores another name than it was asked for', async () => {
    const { world } = await withTheirs()
    world.platform.script('create', lying('Rejected'))
    world.platform.listed = (items) => items.map((item) => ({ ...item, name: `${item.name} ` }))
    expect((await world.go(ORDERS)).action.reason).toBe('Ambiguous')
    expect(world.platform.posts).toEqual([])
  })

  test('is no question where another key has it, or its table is another one', async () => {
    const { world, id } = await withTheirs()
    world.write('orders.yaml', pipe('theirs', { topics: 'orders', policy: { adopt: id } }))
    await world.go('Pipe/theirs')
    world.write('sales.yaml', pipe('sales', { topics: 'sales' }))
    expect((await world.go('Pipe/sales')).action.reason).toBe('New')
  })
})

test('the end of a write is kept for an hour, and a failed create counts in its service', () => {
  let now = 0
  const writes = createLastWrites({ monotonic: () => now })
  const created = { serviceId: 'S', name: 'orders' }
  writes.noteEnd({ key: ORDERS, created })
  const another = { key: 'Pipe/other', created: { serviceId: 's', name: 'other' } } as const
  expect(writes.endedAt(another)).toBe(-Infinity)
  writes.noteEnd({ key: ORDERS, created, isFailed: true })
  writes.noteEnd({ key: VICTIM })
  expect(writes.endedAt(another)).toBe(0)
  expect(writes.endedAt({ ...another, key: 'Alert/other' })).toBe(-Infinity)
  now = 59 * MINUTE
  writes.noteEnd({ key: VICTIM })
  expect(writes.endedAt({ key: ORDERS })).toBe(0)
  now = 61 * MINUTE
  writes.noteEnd({ key: 'Pipe/third' })
  expect([ORDERS, VICTIM].map((key) => writes.endedAt({ key }))).toEqual([-Infinity, 59 * MINUTE])
})

test('the end of a write moves with its key, and does not take the place of a later one', () => {
  let now = 5
  const writes = createLastWrites({ monotonic: () => now })
  writes.move(ORDERS, VICTIM)
  expect(writes.endedAt({ key: VICTIM })).toBe(-Infinity)
  writes.noteEnd({ key: ORDERS })
  writes.move(ORDERS, VICTIM)
  expect(writes.endedAt({ key: VICTIM })).toBe(5)
  now = 9
  writes.noteEnd({ key: VICTIM })
  writes.move(ORDERS, VICTIM)
  expect(writes.endedAt({ key: VICTIM })).toBe(9)
})
