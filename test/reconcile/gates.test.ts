import { describe, expect, test } from 'vitest'
import { messageOf } from '../../src/plan/reason.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { given } from './given.ts'
import { listedWorld } from './given-listing.ts'
import { alert, endpoint, pipe, service } from './manifests.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { play, story, times, worldAfter } from './story.ts'

test('a create looks again at what another process wrote while it waited for its place', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  const { platform } = world.context
  const admit = platform.admitCreate.bind(platform)
  Object.assign(platform, {
    async admitCreate(...asked: Parameters<typeof admit>) {
      for (const key of ['Pipe/orders', 'Pipe/other'] as const)
        await world.ledger.swap({ ...blankRecord(key), line: 9 }, [])
      return admit(...asked)
    },
  })
  const { also } = await world.go('Pipe/orders')
  expect(also).toContain('Pipe/other')
  expect(also).not.toContain('Pipe/orders')
})

test('a pipe that depends on another resource waits until it is ready, and is asked for at once then', async () => {
  const world = await given({ 'alert.yaml': alert('lag', {}, { healthyStates: ['OK'] }) })
  world.platform.alerts.set('id-of-lag', { state: 'ALERT' })
  await play(world, 'write orders dependsOn=Alert/lag; look Alert/lag; look orders: DependencyNotReady')
  await play(world, 'tells orders: Alert/lag')
  world.platform.alerts.set('id-of-lag', { state: 'OK' })
  expect((await world.go('Alert/lag')).also).toEqual(['Pipe/orders'])
  await play(world, 'look orders: New')
})

describe('a pipe whose secret is not mounted', () => {
  test('waits, names the file, and goes on by itself', async () => {
    const world = await worldAfter('write orders; unmount kafka/password')
    const { action, next } = await world.go('Pipe/orders')
    expect(action.reason).toBe('SecretUnavailable')
    expect(messageOf(action, { key: 'Pipe/orders' })).toContain('/secrets/kafka/password')
    expect(next).toMatchObject({ why: 'drift', afterMs: 9_000 })
    await play(world, 'mount kafka/password=now; look orders: New')
  })

  test('is not created anew either, when it is missing', () =>
    story(
      `write orders; write refunds; look orders; look refunds; look orders; delete orders; unmount kafka/password;
      ${times(4, '1 min; look orders; look refunds')}; shown orders: SecretUnavailable`,
      { sent: 2 },
    ))
})

describe('a Service', () => {
  const BROKEN = service().replace('organizationId', 'organisationId')

  test('without a manifest stops creations, and lets them go on when it is there', async () => {
    const blind = await play(
      await given({ 'service.yaml': BROKEN }),
      'write orders; look orders: DependencyNotReady',
    )
    expect(blind.write('service.yaml', service())).toContain('Service/analytics')
    await play(blind, 'look orders: New')
  })

  test('with errors since it was valid gets nothing created or applied, and what is there is looked after', async () => {
    const world = await given({ 'orders.yaml': pipe('orders'), 'keys.yaml': endpoint('keys') })
    await play(world, 'look orders; look QueryEndpoint/keys')
    world.write('service.yaml', BROKEN)
    world.write('keys.yaml', endpoint('keys', { roles: ['sql_console_admin'] }))
    await play(
      world,
      `write new; look new: DependencyNotReady; look QueryEndpoint/keys: DependencyNotReady; look orders: InSync;
      tells new: The manifest of Service/analytics has errors`,
    )
    expect(world.platform.posts).toHaveLength(1)
    world.write('service.yaml', service())
    await play(world, 'look new: New; look QueryEndpoint/keys: Changing edited')
  })

  test('that goes while a pipe is read does not end that', async () => {
    const world = await worldAfter('write orders; look orders')
    const { promise: until, resolve } = Promise.withResolvers<void>()
    world.platform.script('get', { type: 'slow', until })
    const reading = world.begin('Pipe/orders')
    await world.clock.settle()
    await play(world, 'remove service; read again')
    resolve()
    expect((await reading).action.reason).toBe('InvalidManifest')
  })

  const LOOK = 'look Service/analytics'

  test('whose credentials are refused says so, and until when', async () => {
    const world = await worldAfter(
      `write orders; write returns; ${LOOK}: Unobserved; shown Service/analytics: Progressing; create: unauthorised`,
    )
    expect((await world.go('Pipe/orders')).also).toContain('Service/analytics')
    await play(world, `${LOOK}: AuthFailed; shown Service/analytics: Failed`)
    expect((await world.go('Pipe/returns')).also).toContain('Service/analytics')
    // Who was refused is asked again as soon as the credentials work.
    expect((await world.go('Service/analytics')).also).toContain('Pipe/orders')
    await play(world, 'shown Service/analytics: Ready')
  })

  test('that nobody has asked yet keeps nobody waiting who depends on it', async () => {
    const world = await worldAfter(
      'write orders dependsOn=Service/analytics; look orders: DependencyNotReady',
    )
    expect((await world.go('Service/analytics')).also).toContain('Pipe/orders')
    await play(
      world,
      `look orders: New; ${LOOK}; shown Service/analytics: Ready; shown Service/analytics: InSync`,
    )
  })

  test('that does not answer is unavailable after three silences in a row, until it answers', async () => {
    const world = await worldAfter(`write orders; look orders; ${LOOK}`)
    for (const also of [false, false, true]) {
      await play(world, 'get: unavailable')
      expect((await world.go('Pipe/orders')).also.includes('Service/analytics')).toBe(also)
    }
    await play(world, `${LOOK}: Unavailable; shown Service/analytics: Failed`)
    expect((await world.go('Pipe/orders')).also).toContain('Service/analytics')
    await play(world, `${LOOK}; shown Service/analytics: Ready`)
  })

  test('whose credentials were refused is ready again after an answered list, though nothing is created', async () => {
    const world = await listedWorld(
      `write orders; list: unauthorised; look orders: AuthFailed; ${LOOK}: AuthFailed; make orders; make orders`,
    )
    expect((await world.go('Pipe/orders')).also).toContain('Service/analytics')
    await play(world, `shown orders: Ambiguous; ${LOOK}; shown Service/analytics: Ready`)
  })

  test('whose serviceId is written in capitals stays the same one, and a rename moves its pipe', async () => {
    const world = await worldAfter('write orders; look orders')
    world.write('service.yaml', service('analytics', SERVICE_ID.toUpperCase()))
    await play(
      world,
      `look orders; shown orders: InSync; remove orders; write sales name=orders topics=orders; read again;
      look sales; shown sales: Ready`,
    )
    expect(world.platform.posts).toHaveLength(1)
  })
})

const ELSEWHERE = '99999999-9999-4999-8999-999999999999'

test.each([
  ['whose ids are edited', 'service.yaml', service('analytics', ELSEWHERE), 'analytics'],
  ['whose credentials are edited', 'service.yaml', service().replace('"api"', '"new"'), 'analytics'],
  ['to which a pipe is moved', 'a.yaml', pipe('a', { service: 'second' }), 'second'],
] as const)('a Service %s is not Ready before a request to it is answered', async (_, file, text, name) => {
  const world = await given({ 'a.yaml': pipe('a'), 'second.yaml': service('second', ELSEWHERE) })
  await world.go('Pipe/a')
  await world.go('Service/analytics')
  world.write(file, text)
  for (const key of ['keyId', 'keySecret']) world.secrets.mounted.set(`new/${key}`, 'x')
  world.platform.script('get', { type: 'fail', class: 'Unavailable', effect: 'none', worked: false })
  await world.go('Pipe/a')
  await world.go(`Service/${name}`)
  const { Ready } = await world.conditions(`Service/${name}`)
  expect(Ready.reason).toMatch(/Unobserved|Unavailable/)
})
