import { type PlanItem, planMessage } from '../../src/contract/plan.ts'
import { describe, expect, test } from 'vitest'
import { RemoteError } from '../../src/contract/remote-error.ts'
import type { Platform } from '../../src/contract/platform.ts'
import type { Key } from '../../src/kinds/key.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { type Given, given } from './given.ts'
import { endpoint, pipe, pipeBodyOf, service } from './manifests.ts'
import { remoteError } from './model-platform.ts'
import { planOf } from './plan-of.ts'
import { decisiveRun } from '../../src/reconcile/dry-run/plan-item.ts'

/* What a plan says of single resources, beside what would be done. */

async function itemsOf(
  world: Given,
  sourceSecrets: 'optional' | 'required' = 'optional',
): Promise<ReadonlyMap<Key, PlanItem>> {
  const { items } = await planOf({ context: world.context, ledger: world.around.ledger }, sourceSecrets)
  return new Map(items.map((item) => [item.key, item]))
}

/** A new process, which knows nothing but what is on disk. */
async function next(world: Given, platform?: Partial<Platform>): Promise<Given> {
  const fresh = await given({}, { around: world.around })
  return platform === undefined
    ? fresh
    : { ...fresh, context: { ...fresh.context, platform: { ...fresh.context.platform, ...platform } } }
}

function forbidden(): RemoteError {
  const { facts } = remoteError('AuthFailed', 'none')
  return new RemoteError('403', {
    ...facts,
    httpStatus: 403,
    refused: { source: 'api', what: 'an operation' },
  })
}

describe('what was read', () => {
  test('a state that is not healthy is said, although nothing is done about it', async () => {
    const world = await given({ 'a.yaml': pipe('a', { policy: { healthyStates: ['Sleeping'] } }) })
    await world.go('Pipe/a')
    const item = (await itemsOf(await next(world))).get('Pipe/a')
    expect([item?.verdict, item?.reason]).toEqual(['attention', 'UnhealthyState'])
    expect(item && planMessage(item, {})).toContain(`Its state is ${world.context.mask.mask('Running')}`)
  })

  test('a pipe that was not asked for is not said to be unchanged', async () => {
    const world = await given({ 'a.yaml': pipe('a') })
    await world.go('Pipe/a')
    world.write('service.yaml', service('analytics').replace('"serviceId"', '"serviceld"'))
    const item = (await itemsOf(await next(world))).get('Pipe/a')
    expect([item?.verdict, item?.reason]).toEqual(['failed', 'Unobserved'])
  })
})

test('what a plan shows of a resource is its first look that would change something', async () => {
  const world = await given({ 'a.yaml': pipe('a') })
  const [created, after] = [await world.go('Pipe/a'), await world.go('Pipe/a')]
  const runs = [decisiveRun(undefined, after), decisiveRun(after, created), decisiveRun(created, after)]
  expect(runs).toEqual([after, created, created])
  expect(decisiveRun({ ...after, movedFrom: 'Pipe/b' }, after).movedFrom).toBe('Pipe/b')
})

test('a create that was refused and waits for its next attempt is refused', async () => {
  const world = await given({ 'a.yaml': pipe('a') })
  world.platform.script('create', { type: 'fail', class: 'Rejected', effect: 'none', worked: false })
  await world.go('Pipe/a')
  const item = (await itemsOf(await next(world))).get('Pipe/a')
  expect([item?.verdict, item?.reason]).toEqual(['refused', 'BackingOff'])
})

describe('what would be sent', () => {
  test('a pipe that a 403 keeps from being read keeps no other from being created', async () => {
    const world = await given({ 'a.yaml': pipe('a') })
    await world.go('Pipe/a')
    world.write('b.yaml', pipe('b'))
    const items = await itemsOf(await next(world, { read: () => Promise.reject(forbidden()) }))
    expect(items.get('Pipe/a')?.verdict).toBe('failed')
    expect(items.get('Pipe/b')?.verdict).toBe('change')
  })

  test.each(['AuthFailed', 'Unavailable'] as const)('after %s, it would fail as well', async (kind) => {
    const world = await given({ 'a.yaml': pipe('a') })
    await world.go('Pipe/a')
    world.write('b.yaml', pipe('b'))
    const read = () => Promise.reject(remoteError(kind, 'none'))
    const item = (await itemsOf(await next(world, { read }))).get('Pipe/b')
    expect([item?.verdict, item?.reason]).toEqual(['failed', kind])
    expect(item && planMessage(item, {})).toContain(
      'Other requests to Service/analytics fail now, so this one would fail too.',
    )
  })
})

describe('what waits', () => {
  const policy = { dependsOn: ['Pipe/a'] }

  test('is shown with its body: it goes out without being asked for again', async () => {
    const world = await given({ 'a.yaml': pipe('a'), 'b.yaml': pipe('b', { policy }) })
    const item = (await itemsOf(world)).get('Pipe/b')
    expect(item?.verdict).toBe('waits')
    expect(item?.desired).toMatchObject({ name: 'b', scaling: { replicas: 1 } })
  })

  test('gives and takes away what it would once its wait is over, and nothing if nothing is to come', async () => {
    const world = await given({
      'e.yaml': endpoint('e', { roles: ['sql_console_admin'] }),
      'b.yaml': pipe('b'),
    })
    expect((await itemsOf(world)).get('QueryEndpoint/e')).not.toHaveProperty('before.roles')
    await world.go('QueryEndpoint/e')
    const accessOf = async () => {
      const { gives, takesAway } = (await itemsOf(world)).get('QueryEndpoint/e') ?? {}
      return { gives, takesAway }
    }
    expect(await accessOf()).toEqual({ gives: [], takesAway: [] })
    const edited = endpoint('e', { roles: ['sql_console_read_only'] }, { dependsOn: ['Pipe/a'] })
    world.write('e.yaml', edited)
    world.write('a.yaml', pipe('a', { policy: { suspend: { reason: 'x', until: '2099-01-01T00:00:00Z' } } }))
    expect(await accessOf()).toEqual({
      gives: ['role sql_console_read_only'],
      takesAway: ['role sql_console_admin'],
    })
    world.write(
      'e.yaml',
      edited.replace('"dependsOn":["Pipe/a"]', '"suspend":{"reason":"x","until":"2099-01-01T00:00:00Z"}'),
    )
    expect(await accessOf()).toEqual({ gives: [], takesAway: [] })
  })

  test('and lacks a secret where these are mounted is refused: the wait would end in that', async () => {
    const password = { secretRef: { name: 'kafka', key: 'nowhere' } }
    const source = { kafka: { brokers: 'b:1', topics: 'b', credentials: { username: 'me', password } } }
    const world = await given({ 'a.yaml': pipe('a'), 'b.yaml': pipe('b', { policy, more: { source } }) })
    const item = (await itemsOf(world, 'required')).get('Pipe/b')
    expect([item?.verdict, item?.reason]).toEqual(['refused', 'SecretUnavailable'])
    expect((await itemsOf(world)).get('Pipe/b')?.verdict).toBe('waits')
  })
})

test('an endpoint that moves to another manifest takes away what the old one gave', async () => {
  const world = await given({ 'e.yaml': endpoint('e', { roles: ['sql_console_admin'] }) })
  await world.go('QueryEndpoint/e')
  world.remove('e.yaml')
  world.write('e2.yaml', endpoint('e2', { roles: ['sql_console_read_only'] }))
  world.readAgain()
  const item = (await itemsOf(world)).get('QueryEndpoint/e2')
  expect(item?.takesAway).toEqual(['role sql_console_admin'])
  expect(item?.gives).toEqual(['role sql_console_read_only'])
  expect(item?.before).toMatchObject({ roles: ['sql_console_admin'] })
})

test('an edit that cannot be sent is shown, also of a field that the platform never returns', async () => {
  const world = await given({ 'a.yaml': pipe('a') })
  await world.go('Pipe/a')
  const destination = { ...(pipeBodyOf('a')['destination'] as object), roles: ['writer'] }
  world.write('a.yaml', pipe('a', { more: { destination } }))
  const item = (await itemsOf(await next(world))).get('Pipe/a')
  expect(item).toMatchObject({ reason: 'NotUpdatable', differences: [], desired: { destination } })
})

test('a pipe whose service changed is shown where it is, and without a body that looks new', async () => {
  const world = await given({ 'a.yaml': pipe('a') })
  await world.go('Pipe/a')
  world.write('service.yaml', service('analytics', '99999999-1d8e-4f57-8a0b-6d3f5b1c2e44'))
  const item = (await itemsOf(await next(world))).get('Pipe/a')
  expect([item?.verdict, item?.reason]).toEqual(['refused', 'NotUpdatable'])
  expect(item?.service?.serviceId).toBe(SERVICE_ID)
  expect(item?.desired).toBeUndefined()
})
