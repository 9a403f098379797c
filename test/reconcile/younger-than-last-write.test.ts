import { describe, expect, test } from 'vitest'
import type { ErrorClass } from '../../src/contract/remote-error.ts'
import type { Key } from '../../src/kinds/key.ts'
import { createLastWrites } from '../../src/reconcile/state/last-writes.ts'
import { given, type Given, MINUTE, SECOND } from './given.ts'
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

test('a pipe with the same source and table that no attempt made stops no create', async () => {
  const world = await given({}, { profile: LISTING })
  world.platform.make(SERVICE_ID, { ...pipeBodyOf('orders'), name: 'theirs' })
  world.write('orders.yaml', pipe('orders'))
  expect((await world.go(ORDERS)).action.reason).toBe('New')
})

test('the end of a write, and the name of a failed create, are kept for an hour', () => {
  let now = 0
  const writes = createLastWrites({ monotonic: () => now })
  writes.noteEnd({ key: ORDERS, created: { serviceId: 'S', name: 'orders' }, hasFailed: true })
  writes.noteEnd({ key: VICTIM, created: { serviceId: 'S', name: 'victim' } })
  expect([writes.failedNames('Pipe', 's'), writes.failedNames('Alert', 's')]).toEqual([['orders'], []])
  now = 59 * MINUTE
  writes.noteEnd({ key: VICTIM })
  expect([writes.endedAt({ key: ORDERS }), writes.failedNames('Pipe', 's')]).toEqual([0, ['orders']])
  now = 61 * MINUTE
  expect(writes.failedNames('Pipe', 's')).toEqual([])
  writes.noteEnd({ key: 'Pipe/other' })
  expect([ORDERS, VICTIM].map((key) => writes.endedAt({ key }))).toEqual([-Infinity, 59 * MINUTE])
})
