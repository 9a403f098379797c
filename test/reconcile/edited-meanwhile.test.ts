import { expect, test } from 'vitest'
import { LISTING } from './given-listing.ts'
import { given, type Given } from './given.ts'
import { alert, service } from './manifests.ts'
import { play, worldAfter } from './story.ts'

/* Git changes while a reconcile waits for the platform. */

const ANY = { maxCreates: Infinity }
const ELSEWHERE_ID = '22222222-0000-4000-8000-000000000002'
const ELSEWHERE = service('analytics', ELSEWHERE_ID)

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

test('a pipe that moves to another key while it is read is not reserved for the first key', async () => {
  const world = await worldAfter('make orders; write orders adopt=#1')
  const [id = ''] = world.platform.pipes.keys()
  const [read, reread] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  for (const { promise } of [read, reread]) world.platform.script('get', { type: 'slow', until: promise })
  const looking = world.begin('Pipe/orders')
  for (let hop = 0; hop < 200; hop += 1) await Promise.resolve()
  await play(world, `write orders adopt=${ELSEWHERE_ID}; write other adopt=#1`)
  read.resolve()
  for (let hop = 0; hop < 200; hop += 1) await Promise.resolve()
  await world.go('Pipe/other')
  expect((await world.record('Pipe/other')).remote?.id).toBe(id)
  reread.resolve()
  await looking
})
