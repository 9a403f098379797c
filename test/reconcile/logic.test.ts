import { expect, test } from 'vitest'
import { LISTING } from './given-listing.ts'
import { given, MINUTE, type Given } from './given.ts'
import { alert, service } from './manifests.ts'
import { play, worldAfter } from './story.ts'

/* Git changes while a reconcile waits for the platform. */

const ANY = { maxCreates: Infinity }
const SAME = 'name=orders topics=orders'
const ELSEWHERE = service('analytics', '22222222-0000-4000-8000-000000000002')

/** One turn, during which these files come. */
async function during(world: Given, key: 'Alert/lag' | 'Pipe/orders', files: Record<string, string>) {
  const until = Promise.withResolvers<void>()
  world.platform.script(key === 'Alert/lag' ? 'alert' : 'get', { type: 'slow', until: until.promise })
  const looking = world.begin(key)
  for (let hop = 0; hop < 200; hop += 1) await Promise.resolve()
  for (const [file, text] of Object.entries(files)) world.write(file, text)
  until.resolve()
  return looking
}

test('after a lost ledger, a Lock from before a rename adopts its pipe', async () => {
  const before = await worldAfter(`write old ${SAME}; look old: New`, {}, ANY)
  for (const record of await before.around.ledger.list()) await before.around.ledger.remove(record, [])
  before.around.directory.files.clear()
  const world = await play(
    await given({}, { ...ANY, around: before.around }),
    `write new ${SAME} renamedFrom=Pipe/old; lock old=#1; look new: Adopt; look new: InSync`,
  )
  expect(world.platform.requests.get).toBe(2)
})

test('an alert whose id is edited while it is read is not shown as the other one', async () => {
  const world = await given({ 'alert.yaml': alert('lag', { threshold: 5 }) })
  world.platform.alerts.set('id-of-lag', { threshold: 5, state: 'OK' })
  const edited = alert('lag', { threshold: 5 }).replace('id-of-lag', 'id-of-other')
  await during(world, 'Alert/lag', { 'alert.yaml': edited })
  expect(world.board.get('Alert/lag')?.status).toBe('Failed')
})

test('a pipe of the former service is not adopted once the manifest leads to another', async () => {
  const world = await worldAfter('make orders; write orders', {}, { profile: LISTING, ...ANY })
  await during(world, 'Pipe/orders', { 'service.yaml': ELSEWHERE })
  expect((await world.record('Pipe/orders')).service?.serviceId).toMatch(/^2{8}/)
})

test.fails('a Service whose ids were edited is not called answered before it was asked', async () => {
  const world = await worldAfter('write orders; look orders; 2 min; look orders', {}, ANY)
  world.write('service.yaml', ELSEWHERE)
  const { get } = world.platform.requests
  for (let pass = 0; pass < 4; pass += 1) {
    await world.go('Pipe/orders')
    await world.go('Service/analytics')
    await world.clock.advance(10 * MINUTE)
  }
  expect(world.platform.requests.get).toBe(get)
  expect(world.board.get('Service/analytics')?.status).not.toBe('Ready')
})
