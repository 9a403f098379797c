import { expect, test } from 'vitest'
import { messageOf } from '../../src/plan/reason.ts'
import { OTHER_SERVICE_ID } from '../support/manifests.ts'
import { given, HOUR, MINUTE } from './given.ts'
import { endpoint, lock, service } from './manifests.ts'
import { planOf } from './plan-of.ts'
import { idOf, play, story, times, worldAfter } from './story.ts'

/* What Git names, against what the record believes. */

const SAME = 'name=orders topics=orders'
const ROUND = 'look orders; look other; 35 s'

test('a Lock from before a rename adopts its pipe after a lost ledger, with one read, and is no create', async () => {
  const world = await worldAfter(
    `make orders; lock old=#1; write new ${SAME} renamedFrom=Pipe/old; write other; read again; look other: New; look new`,
    { sent: 1, holds: { 'Pipe/new': '1', 'Pipe/other': '2' } },
    { maxCreates: 1 },
  )
  expect(world.platform.requests.get).toBe(1)
})

test('a Lock that names a pipe is obeyed before a rename that is only guessed', () =>
  story(
    `write old ${SAME}; look old; remove old; read again; look old; make orders; lock new=#2; write new ${SAME}; look new: Adopt`,
    { sent: 1, holds: { 'Pipe/old': '1', 'Pipe/new': '2' } },
  ))

test.each([
  ['the loss of the new one is confirmed', `${times(5, ROUND)}; 2 h; ${ROUND}`],
  [
    'a person confirms that loss, as the message of adopt says',
    'recreate orders: is gone; look orders: Adopt',
  ],
])(
  'policy.adopt of a pipe that was replaced and is there again adopts it once %s, and creates none',
  async (_, then) => {
    const world = await worldAfter(
      `write orders; write other; look orders; look other; 1 h; look orders; look other; hide orders; ${times(4, ROUND)}`,
      { sent: 3, holds: { 'Pipe/orders': '3', 'Pipe/other': '2' } },
    )
    world.platform.hidden.clear()
    await play(
      world,
      `2 h; ${ROUND}; delete orders; adopt orders=#1: set policy.adopt to the other id; write orders adopt=#1; ${then}`,
    )
    expect(await idOf(world, 'Pipe/orders')).toMatch(/1$/)
    expect(world.platform.posts).toHaveLength(3)
  },
)

test('of a ledger from before replacements, a Lock adopts the new pipes, also of many', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const all = names.map((name) => `look ${name}`).join('; ')
  const world = await worldAfter(`${names.map((name) => `write ${name}`).join('; ')}; ${all}; 1 h; ${all}`)
  const ids: Record<string, string> = {
    'Pipe/d': await idOf(world, 'Pipe/d'),
    'Pipe/e': await idOf(world, 'Pipe/e'),
  }
  for (const name of ['a', 'b', 'c']) {
    await play(world, `delete ${name}; make ${name}`)
    ids[`Pipe/${name}`] = [...world.platform.pipes.keys()].at(-1) ?? ''
  }
  world.write('lock.yaml', lock(ids))
  const next = await play(world, `restart; ${times(5, `${all}; 35 s`)}`)
  const held = (await next.ledger.list()).flatMap(({ key, remote }) => (remote ? [[key, remote.id]] : []))
  expect(Object.fromEntries(held)).toEqual(ids)
  expect(next.platform.posts).toHaveLength(5)
})

const KEY = 'QueryEndpoint/analytics'

test('after a lost reply at its interval and an edit, a query endpoint is applied once more: that request can arrive late', async () => {
  const world = await given({ 'endpoint.yaml': endpoint('analytics') })
  await world.go(KEY)
  await world.clock.advance(HOUR)
  world.platform.script('upsert', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true })
  await world.go(KEY)
  world.write('endpoint.yaml', endpoint('analytics', { openApiKeys: [] }))
  const { action, next } = await world.go(KEY)
  expect(action.reason).toBe('Changing')
  expect(next?.afterMs).toBeLessThan(20 * MINUTE)
})

test('a query endpoint that moves to another service takes nothing away: the former service keeps its access', async () => {
  const world = await given({ 'endpoint.yaml': endpoint('analytics') })
  await world.go(KEY)
  world.write('service.yaml', service('analytics', OTHER_SERVICE_ID))
  world.write('endpoint.yaml', endpoint('analytics', { openApiKeys: ['key-2'] }))
  const { items } = await planOf({ context: world.context, ledger: world.around.ledger })
  expect(items.find(({ key }) => key === KEY)).toMatchObject({
    takesAway: [],
    gives: expect.arrayContaining(['key key-2']) as string[],
  })
  const { action } = await world.go(KEY)
  expect(action).toMatchObject({ type: 'upsert', takesAway: [] })
  expect(messageOf(action, { key: KEY })).not.toContain('key-1')
})
