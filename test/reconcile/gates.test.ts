import { viewMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import { messageOf } from '../../src/plan/reason.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { given, MINUTE } from './given.ts'
import { alert, endpoint, pipe, service } from './manifests.ts'
import { SERVICE_ID } from '../support/manifests.ts'

test('a create looks again at what another process wrote while it waited for its place', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  const { platform } = world.context
  const admit = platform.admitCreate.bind(platform)
  Object.assign(platform, {
    async admitCreate(...asked: Parameters<typeof admit>) {
      for (const key of ['Pipe/orders', 'Pipe/other'] as const)
        await world.around.ledger.swap({ ...blankRecord(key), line: 9 }, [])
      return admit(...asked)
    },
  })
  const { also } = await world.go('Pipe/orders')
  expect(also).toContain('Pipe/other')
  expect(also).not.toContain('Pipe/orders')
})

describe('a pipe that depends on another resource', () => {
  test('waits until it is ready, and is asked for at once then', async () => {
    const world = await given({
      'orders.yaml': pipe('orders', { policy: { dependsOn: ['Alert/lag'] } }),
      'alert.yaml': alert('lag', {}, { healthyStates: ['OK'] }),
    })
    world.platform.alerts.set('id-of-lag', { state: 'ALERT' })
    await world.go('Alert/lag')
    expect((await world.go('Pipe/orders')).action.reason).toBe('DependencyNotReady')
    expect(viewMessage(world.board.get('Pipe/orders'))).toContain('Alert/lag')
    world.platform.alerts.set('id-of-lag', { state: 'OK' })
    expect((await world.go('Alert/lag')).also).toEqual(['Pipe/orders'])
    expect((await world.go('Pipe/orders')).action.reason).toBe('New')
  })
})

describe('a pipe whose secret is not mounted', () => {
  test('waits, names the file, and goes on by itself', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.secrets.mounted.delete('kafka/password')
    const { action, next } = await world.go('Pipe/orders')
    expect(action.reason).toBe('SecretUnavailable')
    expect(messageOf(action, 'Pipe/orders')).toContain('/secrets/kafka/password')
    expect(next).toMatchObject({ why: 'retry', afterMs: 9_000 })
    world.secrets.mounted.set('kafka/password', 'now')
    expect((await world.go('Pipe/orders')).action.reason).toBe('New')
  })

  test('is not created anew either, when it is missing', async () => {
    const world = await given({ 'orders.yaml': pipe('orders'), 'refunds.yaml': pipe('refunds') })
    for (const key of ['Pipe/orders', 'Pipe/refunds', 'Pipe/orders'] as const) await world.go(key)
    world.platform.pipes.delete((await world.record('Pipe/orders')).remote?.id ?? '')
    world.secrets.mounted.delete('kafka/password')
    for (let look = 0; look < 4; look += 1) {
      await world.clock.advance(MINUTE)
      await world.go('Pipe/orders')
      await world.go('Pipe/refunds')
    }
    expect(world.board.get('Pipe/orders')?.reason).toBe('SecretUnavailable')
    expect(world.platform.posts).toHaveLength(2)
  })
})

describe('a Service', () => {
  test('without a manifest stops creations, and lets them go on when it is there', async () => {
    const broken = service().replace('organizationId', 'organisationId')
    const blind = await given({ 'service.yaml': broken, 'orders.yaml': pipe('orders') })
    expect((await blind.go('Pipe/orders')).action.reason).toBe('ServiceInvalid')
    expect(blind.write('service.yaml', service())).toContain('Service/analytics')
    expect((await blind.go('Pipe/orders')).action.reason).toBe('New')
  })

  test('with errors since it was valid gets nothing created or applied, and what is there is looked after', async () => {
    const world = await given({ 'orders.yaml': pipe('orders'), 'keys.yaml': endpoint('keys') })
    await world.go('Pipe/orders')
    await world.go('QueryEndpoint/keys')
    world.write('service.yaml', service().replace('organizationId', 'organisationId'))
    world.write('new.yaml', pipe('new'))
    world.write('keys.yaml', endpoint('keys', { roles: ['sql_console_admin'] }))
    expect((await world.go('Pipe/new')).action.reason).toBe('ServiceInvalid')
    expect((await world.go('QueryEndpoint/keys')).action.reason).toBe('ServiceInvalid')
    expect((await world.go('Pipe/orders')).action.reason).toBe('InSync')
    expect(viewMessage(world.board.get('Pipe/new'))).toContain('The manifest of Service/analytics has errors')
    expect(world.platform.posts).toHaveLength(1)

    world.write('service.yaml', service())
    expect((await world.go('Pipe/new')).action.reason).toBe('New')
    expect((await world.go('QueryEndpoint/keys')).action.reason).toBe('Edited')
  })

  test('whose credentials are refused says so, and until when', async () => {
    const world = await given({ 'orders.yaml': pipe('orders'), 'returns.yaml': pipe('returns') })
    expect((await world.go('Service/analytics')).action.reason).toBe('Unanswered')
    expect(world.board.get('Service/analytics')?.status).toBe('Progressing')
    world.platform.script('create', { type: 'fail', class: 'AuthFailed', effect: 'none', worked: false })
    expect((await world.go('Pipe/orders')).also).toContain('Service/analytics')
    expect((await world.go('Service/analytics')).action.reason).toBe('AuthFailed')
    expect(world.board.get('Service/analytics')?.status).toBe('Failed')
    expect((await world.go('Pipe/returns')).also).toContain('Service/analytics')
    // Who was refused is asked again as soon as the credentials work.
    expect((await world.go('Service/analytics')).also).toContain('Pipe/orders')
    expect(world.board.get('Service/analytics')?.status).toBe('Ready')
  })

  test('that nobody has asked yet keeps nobody waiting who depends on it', async () => {
    const world = await given({
      'orders.yaml': pipe('orders', { policy: { dependsOn: ['Service/analytics'] } }),
    })
    expect((await world.go('Pipe/orders')).action.reason).toBe('DependencyNotReady')
    expect((await world.go('Service/analytics')).also).toContain('Pipe/orders')
    expect((await world.go('Pipe/orders')).action.reason).toBe('New')
    await world.go('Service/analytics')
    expect(world.board.get('Service/analytics')).toMatchObject({ status: 'Ready', reason: 'InUse' })
  })

  test('that does not answer is unavailable after three silences in a row, until it answers', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    await world.go('Pipe/orders')
    await world.go('Service/analytics')
    for (const also of [false, false, true]) {
      world.platform.script('get', { type: 'fail', class: 'Unavailable', effect: 'none', worked: false })
      expect((await world.go('Pipe/orders')).also.includes('Service/analytics')).toBe(also)
    }
    expect((await world.go('Service/analytics')).action.reason).toBe('Unavailable')
    expect(world.board.get('Service/analytics')?.status).toBe('Failed')
    expect((await world.go('Pipe/orders')).also).toContain('Service/analytics')
    await world.go('Service/analytics')
    expect(world.board.get('Service/analytics')?.status).toBe('Ready')
  })

  test('whose serviceId is written in capitals stays the same one, and a rename moves its pipe', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    await world.go('Pipe/orders')
    world.write('service.yaml', service('analytics', SERVICE_ID.toUpperCase()))
    await world.go('Pipe/orders')
    expect(world.board.get('Pipe/orders')).toMatchObject({ reason: 'InSync' })
    world.remove('orders.yaml')
    world.write('sales.yaml', pipe('sales', { platformName: 'orders', topics: 'orders' }))
    world.readAgain()
    await world.go('Pipe/sales')
    expect(world.board.get('Pipe/sales')).toMatchObject({ status: 'Ready' })
    expect(world.platform.posts).toHaveLength(1)
  })
})
