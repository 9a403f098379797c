import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { type Given, HOUR, MINUTE, SECOND } from './given.ts'
import { during, listedStory, listedWorld, LISTING } from './given-listing.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { pipe } from './manifests.ts'
import { play, times } from './story.ts'
import { createLastWrites } from '../../src/reconcile/state/listings.ts'

/* Before a request that changes something, every shared reading is younger than the last such request of its key. */

const ORDERS: Key = 'Pipe/orders'
const VICTIM: Key = 'Pipe/victim'
const LISTED = { profile: LISTING }

/** Another key asked for the list so long before the first attempt. */
async function listedBefore(ms: number): Promise<Given> {
  const world = await listedWorld('write orders; look orders')
  await world.clock.advance(ms)
  return play(world, 'write victim')
}

/** No list is asked for any more: the last one is given. */
function withStaleList({ context: { store } }: Given): void {
  const [stale] = [...store.listings.all()].map(([, listing]) => listing)
  if (stale === undefined) throw new Error('there is no list')
  Object.assign(store.listings, { since: async () => stale })
}

function victims(world: Given): number {
  return world.platform.posts.filter(({ body }) => body['name'] === 'victim').length
}

describe('a create that is answered with an error and was carried out', () => {
  const rows = ['refused', 'throttled', 'idle', 'unauthorised', 'unavailable']

  test.each(rows.flatMap((of) => [0, 1, 3 * SECOND, 9 * SECOND].map((ms) => ({ of, ms }))))(
    '$of, $ms ms after a list of another key: the next attempt reads the list again and finds the pipe',
    async ({ of, ms }) => {
      const world = await play(await listedBefore(ms), `create: ${of} after the work`)
      const [, ...next] = await during(world, VICTIM, MINUTE)
      expect(next[0]?.action).toMatchObject({ type: 'adopt', reason: 'Adopt' })
      expect(victims(world)).toBe(1)
    },
  )

  test('twice, the second time after the list had nothing: every attempt has a list of its own', async () => {
    const world = await play(await listedBefore(SECOND), 'create: refused; create: refused after the work')
    await during(world, VICTIM, 5 * MINUTE)
    expect(victims(world)).toBe(2)
    expect(world.platform.pipes.size).toBe(2)
  })

  const renamed = 'remove victim; write renamed name=victim topics=victim'

  test.each([
    ['goes and comes back', 'remove victim; read again; look victim; write victim; look victim'],
    ['is renamed', `${renamed}; look renamed`],
    ['is renamed, and forgotten', `${renamed}; read again; look victim; look renamed`],
  ])('and whose manifest %s in a moment: the pipe is found', async (_, next) => {
    const world = await listedBefore(SECOND)
    await play(world, `create: refused after the work; look victim; ${next}: Adopt the list`)
    expect(victims(world)).toBe(1)
  })
})

test('ten keys that were never sent share one list', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `pipe-${index}`)
  const all = (step: string) => names.map((name) => `${step} ${name}`).join('; ')
  const world = await listedWorld(`${all('write')}; ${all('look')}`, { sent: 10 })
  expect(world.platform.requests.list).toBe(1)
})

test('a create on a list from before the last attempt throws, and nothing is sent', async () => {
  const world = await play(await listedBefore(SECOND), 'create: refused; look victim')
  withStaleList(world)
  await world.clock.advance(MINUTE)
  await expect(world.go(VICTIM)).rejects.toThrow('on a reading from before its last request')
  expect(victims(world)).toBe(1)
})

test('a create on a list from before a create of its name by another key is not sent', async () => {
  const world = await listedBefore(SECOND)
  withStaleList(world)
  const created = { serviceId: SERVICE_ID, name: 'victim' }
  world.context.store.lastWrites.noteEnd({ key: 'Pipe/other', created })
  await world.go(VICTIM).catch(String)
  expect(victims(world)).toBe(0)
})

const RENAMED = 'write renamed topics=orders'

test.each(['refused', 'throttled', 'unauthorised'])(
  'a create that is answered with %s and was carried out, and whose manifest is renamed before the next attempt',
  async (of) => {
    const world = await listedWorld(
      `write orders; create: ${of} after the work; look orders; remove orders; ${RENAMED}; read again; look orders`,
    )
    const [first] = await during(world, 'Pipe/renamed', 5 * MINUTE)
    expect(first?.action.reason).toBe('Ambiguous')
    expect(world.platform.pipes.size).toBe(1)
  },
)

test('a failed create that was carried out is known after a restart, too, whatever its manifest is named by then', async () => {
  const first = await listedWorld('write orders; create: refused after the work; look orders')
  first.around.directory.files.set('orders.yaml', pipe('renamed', { topics: 'orders' }))
  const next = await play(first, 'restart; look renamed: Ambiguous', LISTED)
  expect(next.platform.pipes.size).toBe(1)
})

test('a failed create of another process that was carried out is known to this one', async () => {
  const first = await listedWorld('write orders')
  const standby = await play(first, 'restart', LISTED)
  await play(first, 'create: refused after the work; look orders')
  const { store } = standby.context
  const failed = await first.record(ORDERS)
  if (failed.intent === undefined) throw new Error('there is no attempt')
  store.note({ ...failed, intent: { ...failed.intent, state: 'open' } })
  store.note(failed)
  const created = { serviceId: SERVICE_ID, name: 'sales' }
  expect(store.lastWrites.endedAt({ key: 'Pipe/sales', created })).toBe(standby.clock.monotonic())
})

test('a failed create that was carried out is known after its manifest went and a restart', async () => {
  const gone = 'remove orders; read again; look orders; restart'
  const next = await listedWorld(
    `write orders; create: refused after the work; look orders; ${gone}; ${RENAMED}; look renamed: Ambiguous`,
  )
  await during(next, 'Pipe/renamed', 2 * HOUR)
  expect(next.platform.pipes.size).toBe(1)
})

test('a recreate that failed and was carried out is known after an edit of its name', async () => {
  const world = await listedWorld(
    `write orders; look orders; delete orders; write orders recreate=#1; create: refused after the work; look orders;
    write orders recreate=#1 name=orders-v2`,
    { sent: 2 },
  )
  await during(world, ORDERS, 5 * MINUTE)
  expect(world.platform.posts).toHaveLength(2)
})

test('a dismissed create that was carried out is known after a restart and an edit of its name', async () => {
  const first = await listedWorld('write orders; create: lost after the work')
  first.platform.listed = () => []
  await play(first, 'look orders; 20 min')
  first.platform.listed = (items) => items
  const edited = 'write orders name=orders-v2 topics=orders retryCreate=@orders'
  const next = await play(first, `restart; ${edited}; look orders: Ambiguous`, LISTED)
  expect(next.platform.pipes.size).toBe(1)
})

describe('a pipe of the same source and table that no manifest holds', () => {
  const THEIRS = 'make orders name=theirs'

  test('stops a create under another name, until policy.replaces names it: then one is created', async () => {
    const world = await listedWorld(`${THEIRS}; write orders`)
    const ids = [...world.platform.pipes.keys()]
    const { action } = await world.go(ORDERS)
    expect(action).toMatchObject({ reason: 'Ambiguous', facts: { ids, listedAs: 'theirs' } })
    const replaces = 'write orders replaces=#1; create: refused after the work'
    await play(world, `tells orders: If not, set policy.replaces: ${ids[0]}.; ${replaces}`)
    world.platform.listed = (items) => items.map((item) => ({ ...item, name: `${item.name} ` }))
    // The new pipe came after the words of its author.
    await play(world, `look orders: New; ${times(3, '60 min; look orders: Ambiguous')}`)
    expect(world.platform.posts).toHaveLength(1)
  })

  test('stops it also where the service stores another name than it was asked for', async () => {
    const world = await listedWorld(`${THEIRS}; write orders; create: refused after the work`)
    world.platform.listed = (items) => items.map((item) => ({ ...item, name: `${item.name} ` }))
    await play(world, 'look orders: Ambiguous')
    expect(world.platform.posts).toEqual([])
  })

  test('is no question where another key has it, or its table is another one', () =>
    listedStory(
      `${THEIRS}; write theirs@orders topics=orders adopt=#1; look theirs; write sales topics=sales; look sales: New`,
    ))
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
