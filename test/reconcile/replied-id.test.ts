import { conditionMessage } from '../support/messages.ts'
import { expect, test, vi } from 'vitest'
import { OTHER_SERVICE_ID, SERVICE_ID } from '../support/manifests.ts'
import { given, MINUTE, type Given } from './given.ts'
import { pipe, pipeBodyOf } from './manifests.ts'
import type { Script } from './model-script.ts'

/* Which id of a reply to a create is believed. An id that is not believed is named in the words. */

const HELD = 'c0ffee00-0000-4000-8000-00000000000a'
const STRANGER = 'c1a5e6f0-7b42-4d19-9e83-0a6d2f4b8c57'
const CUT: Script = { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true, showsId: true }
const UNREADABLE: Script = { type: 'fail', class: 'Unavailable', effect: 'none', worked: false }

/** A process whose key `Pipe/refunds` holds the pipe {@link HELD}. */
async function beside(): Promise<Given> {
  const world = await given({
    'orders.yaml': pipe('orders'),
    'refunds.yaml': pipe('refunds', { policy: { adopt: HELD } }),
  })
  const made = world.platform.make(SERVICE_ID, { name: 'refunds', ...pipeBodyOf('refunds') })
  const [pipeMade] = world.platform.pipes.values()
  if (pipeMade === undefined) throw new Error('no pipe was made')
  world.platform.pipes.delete(made)
  world.platform.pipes.set(HELD, { ...pipeMade, id: HELD })
  await world.go('Pipe/refunds')
  return world
}

test.each(
  Object.entries({
    'of a pipe that another key holds': { change: { id: HELD }, says: HELD },
    'of two dots': { change: { id: '..' }, says: '".."' },
    'that is a word': { change: { id: 'pipe-17' }, says: '"pipe-17"' },
    'of 64 characters': { change: { id: 'x'.repeat(64) }, says: `"${'x'.repeat(64)}"` },
    'with a path behind it': { change: { id: `${STRANGER}/../x` }, says: `${STRANGER}/../x` },
    'of another service': { change: { id: STRANGER, serviceId: OTHER_SERVICE_ID }, says: STRANGER },
    'of a pipe with another name': { change: { id: STRANGER, name: 'sales' }, says: STRANGER },
  }),
)('an id %s is not taken, also by a later process', async (_what, { change, says }) => {
  const world = await beside()
  world.platform.script('create', { type: 'other', change })
  await world.go('Pipe/orders')
  const later = await given({}, { around: world.around })
  await later.go('Pipe/orders')
  const { remote, intent, conditions } = await later.record('Pipe/orders')
  expect([remote, intent?.state, conditions?.Synced.reason]).toEqual([undefined, 'unknown', 'OutcomeUnknown'])
  expect(conditionMessage(conditions?.Synced)).toContain(says)
  expect((await later.record('Pipe/refunds')).remote?.id).toBe(HELD)
  expect(world.platform.posts).toHaveLength(1)
})

test('an id of two replies that come together is taken by one key', async () => {
  const world = await given({ 'orders.yaml': pipe('orders'), 'refunds.yaml': pipe('refunds') })
  const { promise: until, resolve } = Promise.withResolvers<void>()
  const reply = { type: 'other', change: { id: STRANGER }, until } as const
  world.platform.script('create', reply, reply)
  const turns = [world.begin('Pipe/orders'), world.begin('Pipe/refunds')]
  await vi.waitFor(() => expect(world.platform.posts).toHaveLength(2))
  // Either of them might have made it.
  for (const post of world.platform.posts) post.pipeId = STRANGER
  resolve()
  await Promise.all(turns)
  const records = [await world.record('Pipe/orders'), await world.record('Pipe/refunds')]
  expect(records.filter(({ remote }) => remote?.id === STRANGER)).toHaveLength(1)
  expect(records.filter(({ intent }) => intent?.state === 'unknown')).toHaveLength(1)
})

test('an id of two cut replies that is read for both together is taken by one key', async () => {
  const world = await given({
    'orders.yaml': pipe('orders', { platformName: 'one' }),
    'refunds.yaml': pipe('refunds', { platformName: 'one', policy: { replaces: 'Pipe/orders' } }),
  })
  world.platform.script('create', CUT, CUT)
  world.platform.script('get', UNREADABLE, UNREADABLE)
  for (const key of ['Pipe/orders', 'Pipe/refunds'] as const) await world.go(key)
  const [{ intent }, second] = [await world.record('Pipe/orders'), await world.record('Pipe/refunds')]
  await world.ledger.swap(
    { ...second, intent: second.intent && { ...second.intent, seen: intent?.seen } },
    [],
  )
  await Promise.all([world.begin('Pipe/orders'), world.begin('Pipe/refunds')])
  const ids = (await world.ledger.list()).flatMap(({ remote }) => remote?.id ?? [])
  expect(ids).toEqual([intent?.seen?.pipeId])
})

test('a pipe that was made before the intent, by a wrong clock perhaps, is named for the operator', async () => {
  const world = await beside()
  world.platform.script('create', CUT)
  world.platform.always('get', { type: 'other', change: { createdAt: '2020-01-01T00:00:00Z' } })
  for (let look = 0; look < 3; look += 1) {
    await world.go('Pipe/orders')
    await world.clock.advance(MINUTE)
  }
  const { intent, conditions } = await world.record('Pipe/orders')
  const id = intent?.seen?.pipeId
  expect(world.platform.posts.map(({ pipeId }) => pipeId)).toEqual([id])
  expect(conditions?.Synced).toMatchObject({ reason: 'OutcomeUnknown', facts: { pipeId: id } })
})

test.each(
  Object.entries({
    'is found': { change: undefined, state: 'succeeded' },
    'has another name': { change: { name: 'sales' }, state: 'unknown' },
    'is of another service': { change: { serviceId: OTHER_SERVICE_ID }, state: 'unknown' },
    'was made before the intent': { change: { createdAt: '2020-01-01T00:00:00Z' }, state: 'unknown' },
    'was made a minute before': { change: { createdAt: '2025-12-31T23:59:00Z' }, state: 'succeeded' },
    'is held by another key': { change: { id: HELD }, state: 'unknown' },
    'cannot be read': { change: 'unreadable', state: 'unknown' },
    'is not answered in time': { change: 'silent', state: 'succeeded' },
  } as const),
)('a pipe whose id stood in a cut reply, and that %s', async (_what, { change, state }) => {
  const world = await beside()
  world.platform.script('create', CUT)
  if (change === 'unreadable') world.platform.always('get', UNREADABLE)
  else if (change === 'silent')
    world.platform.script('get', { type: 'slow', until: new Promise(() => undefined) })
  else if (change !== undefined) world.platform.always('get', { type: 'other', change })
  await world.go('Pipe/orders')
  await world.clock.advance(MINUTE)
  await world.go('Pipe/orders')
  const { intent, remote } = await world.record('Pipe/orders')
  expect(intent?.state).toBe(state)
  expect(remote !== undefined).toBe(state === 'succeeded')
  expect(world.platform.requests.get).toBeGreaterThan(0)
  expect(world.platform.posts).toHaveLength(1)
})
