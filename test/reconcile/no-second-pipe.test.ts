import { conditionMessage } from '../support/messages.ts'
import { describe, expect, test, vi } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { Given } from './given.ts'
import { given, HOUR, MINUTE, SECOND } from './given.ts'
import { alert, endpoint, lock, pipe, service } from './manifests.ts'
import { OTHER_SERVICE_ID, ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'

const pipeKey = (name: string): Key => `Pipe/${name}`
const ORDERS: Key = 'Pipe/orders'
const OTHER: Key = 'Pipe/other'

async function idOf(world: Given, key: Key): Promise<string> {
  return (await world.record(key)).remote?.id ?? ''
}

/** Two pipes that were made an hour ago, and seen since. */
async function settled(files: Readonly<Record<string, string>> = {}) {
  const world = await given({ 'orders.yaml': pipe('orders'), 'other.yaml': pipe('other'), ...files })
  for (const key of [ORDERS, OTHER]) await world.go(key)
  await world.clock.advance(HOUR)
  for (const key of [ORDERS, OTHER]) await world.go(key)
  return world
}

/** Turns of the first pipe until its 404s are believed, with the other one beside it. @returns the last reason */
async function miss(world: Given): Promise<string> {
  let reason = ''
  for (let look = 0; look < 3; look += 1) {
    reason = (await world.go(ORDERS)).action.reason
    await world.go(OTHER)
    await world.clock.advance(35 * SECOND)
  }
  return reason
}

describe('the pipe that was given up, named again', () => {
  test.each(['policy.adopt', 'a Lock'])(
    'by %s that was there before, is no answer to a create of unknown outcome',
    async (by) => {
      const world = await settled()
      const id = await idOf(world, ORDERS)
      if (by === 'a Lock') world.write('lock.yaml', lock({ [ORDERS]: id }))
      else world.write('orders.yaml', pipe('orders', { policy: { adopt: id } }))
      const gone = world.platform.pipes.get(id)
      world.platform.pipes.delete(id)
      world.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true })
      await miss(world)
      expect(world.platform.posts).toHaveLength(3)
      if (gone !== undefined) world.platform.pipes.set(id, gone)
      for (let request = 0; request < 3; request += 1) {
        expect((await world.go(ORDERS)).action.reason).toBe('OutcomeUnknown')
        await world.clock.advance(MINUTE)
      }
      expect(await world.record(ORDERS)).toMatchObject({
        intent: { state: 'unknown' },
        former: { remote: { id } },
      })
      expect((await world.conditions(ORDERS)).Synced.reason).toBe('OutcomeUnknown')
    },
  )
})

describe('a pipe that is gone, and whose manifest is that of another one now,', () => {
  test.each([
    { why: 'while the other one has its manifest still', other: pipe('other'), reason: 'NameTaken' },
    { why: 'when the other one has none any more', other: undefined, reason: 'RenameSuspected' },
  ])('is not created as that one, $why', async ({ other, reason }) => {
    const world = await settled()
    world.platform.pipes.delete(await idOf(world, ORDERS))
    world.write('orders.yaml', pipe('orders', { platformName: 'other', topics: 'other' }))
    if (other === undefined) world.remove('other.yaml')
    world.write('third.yaml', pipe('third'))
    await world.go('Pipe/third')
    world.readAgain()
    for (let look = 0; look < 4; look += 1) {
      await world.go(ORDERS)
      await world.go('Pipe/third')
      await world.clock.advance(35 * SECOND)
    }
    const { action } = await world.go(ORDERS)
    expect(action).toMatchObject({ type: 'refuse', reason })
    expect(world.platform.posts).toHaveLength(3)
  })
})

test('a pipe that is gone is replaced, whoever has made another one of its name since', async () => {
  const world = await settled()
  world.write('copy.yaml', pipe('copy', { platformName: 'orders', policy: { replaces: ORDERS } }))
  expect((await world.go('Pipe/copy')).action).toMatchObject({ type: 'create', reason: 'New' })
  world.platform.pipes.delete(await idOf(world, ORDERS))
  expect(await miss(world)).toBe('Missing')
  expect(world.platform.posts).toHaveLength(4)
})

describe('a pipe is looked for with the credentials of its own service', () => {
  test('when the name of that service is given to another one', async () => {
    const world = await settled()
    world.write('service.yaml', serviceOf('analytics', OTHER_SERVICE_ID, 'other-api'))
    world.write('old.yaml', serviceOf('analytics-old', SERVICE_ID, 'api'))
    world.write('orders.yaml', pipe('orders', { service: 'analytics-old' }))
    const asked = vi.spyOn(world.context.platform, 'read')
    expect((await world.go(ORDERS)).action.reason).toBe('InSync')
    expect((await world.go(OTHER)).action.reason).toBe('NotUpdatable')
    expect(
      asked.mock.calls.map(([target]) => [target.service?.serviceId, target.service?.secretName]),
    ).toEqual([
      [SERVICE_ID, 'api'],
      [SERVICE_ID, 'api'],
    ])
  })

  test('and with no others: when no manifest is for that service any more, it is not asked for, nor called missing', async () => {
    const world = await settled()
    world.platform.pipes.clear()
    world.write('service.yaml', serviceOf('analytics', OTHER_SERVICE_ID, 'other-api'))
    const { get } = world.platform.requests
    for (let request = 0; request < 20; request += 1) {
      expect((await world.go(ORDERS)).action.reason).toBe('NotUpdatable')
      await world.clock.advance(MINUTE)
    }
    expect(world.platform.requests.get).toBe(get)
    expect(world.platform.posts).toHaveLength(2)
  })
})

test('what a create depends on is ready when this process has found it so: what an earlier one knew may have changed', async () => {
  const before = await given({
    'lag.yaml': alert('lag', {}, { healthyStates: ['OK'] }),
    'orders.yaml': pipe('orders', { policy: { dependsOn: ['Alert/lag'] } }),
  })
  before.platform.alerts.set('id-of-lag', { id: 'id-of-lag', state: 'OK' })
  expect((await before.go('Alert/lag')).action.reason).toBe('InSync')

  before.platform.alerts.set('id-of-lag', { id: 'id-of-lag', state: 'ALERT' })
  const world = await given({}, { around: before.around })
  expect((await world.go(ORDERS)).action.reason).toBe('DependencyNotReady')
  await world.go('Alert/lag')
  expect((await world.go(ORDERS)).action.reason).toBe('DependencyNotReady')

  world.platform.alerts.set('id-of-lag', { id: 'id-of-lag', state: 'OK' })
  const next = await given({}, { around: before.around })
  await next.go(ORDERS)
  const { also } = await next.go('Alert/lag')
  expect(also).toContain(ORDERS)
  expect((await next.go(ORDERS)).action.type).toBe('create')
})

function serviceOf(name: string, serviceId: string, secret: string): string {
  const spec = { organizationId: ORGANIZATION, serviceId, credentials: { secretRef: { name: secret } } }
  return service(name, serviceId).replace(/"spec":.*$/s, `"spec":${JSON.stringify(spec)}}`)
}

describe('a row of 404s', () => {
  test('is broken by any other answer, and begins anew', async () => {
    const world = await settled()
    const { pipes } = world.platform
    const id = await idOf(world, ORDERS)
    const hidden = pipes.get(id)
    for (let look = 0; look < 4; look += 1) {
      pipes.delete(id)
      await world.go(ORDERS)
      await world.go(OTHER)
      await world.clock.advance(35 * SECOND)
      if (hidden !== undefined) pipes.set(id, hidden)
      world.platform.unreadable.add(id)
      await world.go(ORDERS)
      world.platform.unreadable.delete(id)
      await world.clock.advance(SECOND)
    }
    pipes.delete(id)
    expect((await world.go(ORDERS)).action.reason).toBe('MissingUnconfirmed')
    expect(world.platform.posts).toHaveLength(2)
  })

  test('beside a pipe that nobody asks for, since it is suspended, proves nothing, however long', async () => {
    const world = await settled()
    const suspend = { reason: 'a freeze', until: '2099-01-01T00:00:00Z' }
    world.write('other.yaml', pipe('other', { policy: { suspend } }))
    world.platform.pipes.clear()
    for (let look = 0; look < 30; look += 1) {
      expect((await world.go(ORDERS)).action.reason).toBe('MissingUnconfirmed')
      await world.clock.advance(MINUTE)
    }
    expect(world.platform.posts).toHaveLength(2)
  })

  test('of most pipes of a large service is seen to be of most, whichever are asked for first', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `p${index}`)
    const world = await given(Object.fromEntries(names.map((name) => [`${name}.yaml`, pipe(name)])), {
      maxCreates: 1_000,
    })
    for (const name of names) await world.go(`Pipe/${name}`)
    await world.clock.advance(HOUR)
    for (const name of names) await world.go(`Pipe/${name}`)
    // The first ones are found; two thirds are not.
    for (const name of names.slice(20)) world.platform.pipes.delete(await idOf(world, `Pipe/${name}`))
    const missed: Key = 'Pipe/p59'
    const reasons = []
    for (let look = 0; look < 4; look += 1) {
      const { action, also } = await world.go(missed)
      reasons.push(action.reason)
      await world.clock.advance(1)
      for (const other of also) await world.go(other)
      await world.clock.advance(35 * SECOND)
    }
    expect(reasons.at(-1)).toBe('MassMissing')
    expect(world.platform.posts).toHaveLength(60)
  })
})

test('policy.recreate that stood there while the pipe was found counts no more after the pipe was taken over', async () => {
  const world = await settled()
  const id = await idOf(world, ORDERS)
  world.write('orders.yaml', pipe('orders', { policy: { recreate: id } }))
  world.write('lock.yaml', lock({ [ORDERS]: id }))
  await world.go(ORDERS)
  expect((await world.record(ORDERS)).remote?.refutedAt).toBeDefined()
  await world.around.ledger.swap({ ...(await world.record(ORDERS)), remote: undefined }, []) // as one that is taken over has
  const next = await given({}, { around: world.around })
  expect((await next.go(ORDERS)).action.reason).toBe('Adopt')
  next.platform.pipes.delete(id)
  await next.clock.advance(HOUR)
  expect((await next.go(ORDERS)).action.reason).toBe('MissingUnconfirmed')
  expect(next.platform.posts).toHaveLength(2)
})

/** A create of which nobody knows what became. */
async function unknown(): Promise<Given> {
  const world = await given({ 'orders.yaml': pipe('orders') })
  world.platform.script('create', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true })
  await world.go(ORDERS)
  return world
}

describe('a create of unknown outcome stays in sight', () => {
  test('while its Service manifest has errors', async () => {
    const world = await unknown()
    world.write('service.yaml', service().replace('organizationId', 'organisationId'))
    await world.go(ORDERS)
    expect((await world.conditions(ORDERS)).Synced.reason).toBe('OutcomeUnknown')
  })

  test('while the pipe that a person names is not there', async () => {
    const world = await unknown()
    world.write('orders.yaml', pipe('orders', { policy: { adopt: ORGANIZATION } }))
    await world.go(ORDERS)
    const { Synced } = await world.conditions(ORDERS)
    expect(Synced.reason).toBe('OutcomeUnknown')
    expect(conditionMessage(Synced)).toContain(`There is no pipe ${ORGANIZATION}`)
    expect(conditionMessage(Synced)).toContain('pipewright resolve Pipe/orders --retry')
  })
})

test('a pipe that was renamed in the console, as its manifest was, has its new name: another one of that name waits', async () => {
  const world = await settled()
  const id = await idOf(world, ORDERS)
  world.write('orders.yaml', pipe('orders', { platformName: 'orders-x', topics: 'orders' }))
  const stored = world.platform.pipes.get(id)
  if (stored !== undefined) stored.body = { ...stored.body, name: 'orders-x' }
  expect((await world.go(ORDERS)).action.reason).toBe('Accepted')
  world.write('copy.yaml', pipe('copy', { platformName: 'orders-x', topics: 'else' }))
  expect((await world.go('Pipe/copy')).action.reason).toBe('NameTaken')
})

test('an endpoint whose request may or may not have been carried out is applied again, also when the edit is taken back', async () => {
  const q: Key = 'QueryEndpoint/q'
  const world = await given({ 'q.yaml': endpoint('q') })
  await world.go(q)
  world.write('q.yaml', endpoint('q', { roles: ['sql_console_admin'] }))
  world.platform.script('upsert', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: true })
  await world.go(q)
  world.write('q.yaml', endpoint('q'))
  await world.clock.advance(HOUR / 2)
  expect((await world.go(q)).action.type).toBe('upsert')
  expect((await world.go(q)).action.reason).toBe('InSync')
})

test('policy.retryCreate that was read too early counts no more after a rename that came with it', async () => {
  const world = await unknown()
  const { intent } = await world.record(ORDERS)
  world.remove('orders.yaml')
  world.write(
    'orders2.yaml',
    pipe('orders2', { platformName: 'orders', topics: 'orders', policy: { retryCreate: intent?.id ?? '' } }),
  )
  world.readAgain()
  expect((await world.go('Pipe/orders2')).action.reason).toBe('OutcomeUnknown')
  await world.clock.advance(HOUR)
  expect((await world.go('Pipe/orders2')).action.reason).toBe('OutcomeUnknown')
  expect(world.platform.posts).toHaveLength(1)
})

test('an edit that the platform has already does not hide that a secret was rotated', async () => {
  const world = await settled()
  world.secrets.mounted.set('kafka/password', 'another')
  expect((await world.go(ORDERS)).action.reason).toBe('SecretRotated')
  const stored = world.platform.pipes.get(await idOf(world, ORDERS))
  if (stored !== undefined) stored.body = { ...stored.body, scaling: { replicas: 2 } }
  world.write('orders.yaml', pipe('orders', { replicas: 2 }))
  expect((await world.go(ORDERS)).action.reason).toBe('Accepted')
  expect((await world.go(ORDERS)).action.reason).toBe('SecretRotated')
})

describe('a Lock that names', () => {
  test('the pipe that was replaced does not take the place of a new one that nobody has seen yet', async () => {
    const world = await settled()
    const old = await idOf(world, ORDERS)
    const gone = world.platform.pipes.get(old)
    world.write('lock.yaml', lock({ [ORDERS]: old }))
    world.platform.pipes.delete(old)
    expect(await miss(world)).toBe('Missing')
    const made = await idOf(world, ORDERS)
    world.platform.pipes.delete(made)
    if (gone !== undefined) world.platform.pipes.set(old, gone)
    await world.clock.advance(HOUR)
    expect(await miss(world)).toBe('NeverSeen')
    expect(await idOf(world, ORDERS)).toBe(made)
  })

  test('another pipe than policy.adopt is heard when that one is gone', async () => {
    const world = await settled()
    const id = await idOf(world, ORDERS)
    const locked = world.platform.make(SERVICE_ID, { name: 'locked' })
    world.write('orders.yaml', pipe('orders', { policy: { adopt: id } }))
    world.write('lock.yaml', lock({ [ORDERS]: locked }))
    world.platform.pipes.delete(id)
    expect(await miss(world)).toBe('Adopt')
    expect(await idOf(world, ORDERS)).toBe(locked)
    expect(world.platform.posts).toHaveLength(2)
  })

  test.each([true, false])(
    'the missing pipes themselves does not lift the create limit (a Lock: %s)',
    async (is) => {
      const names = Array.from({ length: 24 }, (_, index) => `p${index}`)
      const before = await given(Object.fromEntries(names.map((name) => [`${name}.yaml`, pipe(name)])), {
        maxCreates: 1_000,
      })
      for (const name of names) await before.go(pipeKey(name))
      await before.clock.advance(HOUR)
      const ids: Record<string, string> = {}
      for (const name of names) {
        await before.go(pipeKey(name))
        ids[pipeKey(name)] = await idOf(before, pipeKey(name))
      }
      const world = await given(is ? { 'lock.yaml': lock(ids) } : {}, {
        around: before.around,
        maxCreates: 4,
      })
      for (const name of names.slice(0, 6)) world.platform.pipes.delete(ids[pipeKey(name)] ?? '')
      let reasons: readonly string[] = []
      for (let look = 0; look < 4; look += 1) {
        reasons = []
        for (const name of names) reasons = [...reasons, (await world.go(pipeKey(name))).action.reason]
        await world.clock.advance(35 * SECOND)
      }
      expect(reasons.filter((reason) => reason === 'CreateLimit')).toHaveLength(6)
      expect(world.platform.posts).toHaveLength(24)
    },
  )
})
