import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { seedStatus } from '../../src/reconcile/state/status-board.ts'
import { desiredBody } from '../../src/contract/view.ts'
import { withBodies } from '../../src/server/shown-resource.ts'
import { describe, expect, test, vi } from 'vitest'
import { conditionMessage } from '../support/messages.ts'
import { type Given, given, MINUTE } from './given.ts'
import { alert, endpoint, pipe } from './manifests.ts'
import { idOf, play, rowsOf, story, times, worldAfter } from './story.ts'

async function change(world: Given, body: object): Promise<void> {
  const made = world.platform.pipes.get(await idOf(world, ORDERS))
  if (made === undefined) throw new Error('there is no pipe')
  made.body = { ...made.body, ...body }
}

const ORDERS = 'Pipe/orders'
const CREATED = 'write orders; look orders'

describe('a created pipe, after', () => {
  const ROWS = `
    nothing | | Ready | InSync
    a change in the console | edit #1 replicas=9 | Drifted | Drifted
    an edit | write orders replicas=2 | Drifted | NotUpdatable
    an edit, and the same in the console | edit #1 replicas=2; write orders replicas=2 | Ready | InSync
    a secret with another value | mount kafka/password=second | Drifted | SecretRotated
    a secret that is not mounted for a while | unmount kafka/password | Ready | InSync
    an invalid manifest | write orders invalid | Invalid | InvalidManifest
    a manifest that one reading did not find | remove orders | Ready | InSync
    one that three readings did not find | remove orders; read again | Orphaned | Orphaned
    a suspension | write orders suspended | Suspended | Suspended
    a platform that does not answer | get: lost | Failed | Unavailable
    a console edit of what the manifest does not set | edit #1 setting=4 | Ready | InSync
    a state that is not healthy | write orders healthyStates=Idle | NotReady | UnhealthyState
    credentials of the platform that are not mounted | get: without credentials | Refused | SecretUnavailable
    a broken Service manifest | service broken | Ready | InSync`
  test.each(rowsOf(ROWS))('%s, it is not created again', (_, happens, status, reason) =>
    story(`${CREATED}; ${happens}; look orders; shown orders: ${status}; shown orders: ${reason}`, {
      sent: 1,
    }),
  )

  test.each([
    ['gone', 'unmount kafka/password', 'Secret file not found: /secrets/kafka/password.'],
    ['empty', 'mount kafka/password=', 'Secret file cannot be used: /secrets/kafka/password (empty).'],
  ])(
    'its secret is %s, stays Ready, and says that it could not be created again, until it is back',
    async (_, happens, says) => {
      const world = await worldAfter(
        `${CREATED}; ${happens}; look orders; shown orders: Ready; shown orders: InSync;
        tells orders: ${says} Without this secret, the pipe could not be created again.`,
      )
      expect((await world.conditions(ORDERS)).Synced.status).toBe('True')
      await play(world, 'mount kafka/password=first; look orders')
      expect(conditionMessage((await world.conditions(ORDERS)).Synced)).not.toContain('Secret file')
    },
  )

  test('a rollout that takes too long, is NotReady at a check at which nothing else changed', async () => {
    const world = await worldAfter(
      `write orders healthyStates=Running; look orders; edit #1 state=Provisioning; look orders;
      shown orders: Progressing; shown orders: Changing; 14 min`,
    )
    expect((await world.go(ORDERS)).next?.afterMs).toBeLessThanOrEqual(5 * MINUTE)
    await play(
      world,
      'shown orders: Progressing; 2 min; look orders; shown orders: NotReady; shown orders: UnhealthyState',
    )
  })

  test('another state that nobody judged, has a line in the history, and one only', async () => {
    const world = await worldAfter(
      `${CREATED}; edit #1 state=Frobnicating; ${times(3, '1 min; look orders')}`,
    )
    const { Ready } = await world.conditions('Pipe/orders')
    expect(conditionMessage(Ready)).toContain('Frobnicating')
    const told = (await world.ledger.history({ key: 'Pipe/orders', limit: 100 })).filter(({ message }) =>
      message.includes('Frobnicating'),
    )
    expect(told).toMatchObject([
      { type: 'condition', condition: 'Ready', status: 'True', reason: 'NotJudged' },
    ])
    expect(Ready.since).toBe(told[0]?.at)
  })

  test('an invalid manifest, is still looked at with the last valid one', async () => {
    const world = await worldAfter(
      `${CREATED}; write orders replicas=4 invalid; edit #1 replicas=9; look orders`,
    )
    const conditions = await world.conditions('Pipe/orders')
    expect(conditions.Valid).toMatchObject({ status: 'False', reason: 'InvalidManifest' })
    expect(conditions.Synced).toMatchObject({ status: 'False', reason: 'Drifted' })
    expect(conditionMessage(conditions.Synced)).toContain('scaling.replicas')
    expect(world.board.get('Pipe/orders')?.differences).toEqual([
      { field: 'scaling.replicas', desired: '1', observed: '9' },
    ])
  })

  test('an invalid manifest, of which no valid version was read by this process, is compared with nothing', async () => {
    const world = await worldAfter(
      `${CREATED}; write orders replicas=4 invalid; edit #1 replicas=9; restart; read again; look orders`,
    )
    const { Valid, Synced } = await world.conditions('Pipe/orders')
    expect(Valid).toMatchObject({ status: 'False', reason: 'InvalidManifest' })
    expect(conditionMessage(Synced)).not.toContain('last valid manifest')
  })
})

describe('a pass over an unchanged world', () => {
  test('writes nothing to the ledger and nothing to the platform', async () => {
    const world = await given({
      'a.yaml': pipe('a'),
      'b.yaml': pipe('b', { policy: { suspend: { reason: 'x', until: '2027-01-01T00:00:00Z' } } }),
      'c.yaml': pipe('c', { more: { unknown: 1 } }),
      'd.yaml': pipe('d', { policy: { dependsOn: ['Alert/lag'] } }),
      'endpoint.yaml': endpoint('analytics'),
      'alert.yaml': alert('lag', { name: 'Lag' }, { healthyStates: ['OK'] }),
    })
    world.platform.alerts.set('id-of-lag', { name: 'Lag', state: 'ALERT' })
    for (let pass = 0; pass < 2; pass += 1) for (const key of world.keys()) await world.go(key)
    const [written, posts, upserts] = [
      world.writes.length,
      world.platform.posts.length,
      world.platform.upserts.length,
    ]
    world.read()
    for (const key of world.keys()) await world.go(key)
    expect(world.writes.slice(written)).toEqual([])
    expect(world.platform.posts).toHaveLength(posts)
    expect(world.platform.upserts).toHaveLength(upserts)
    expect(
      world.events
        .filter((event) => event.type === 'ReconcileFinished')
        .slice(-6)
        .some(({ changed }) => changed),
    ).toBe(false)
  })
})

test('the platform is asked first, and what is wanted is worked out while it answers', async () => {
  const world = await worldAfter(CREATED)
  const asks = vi.spyOn(world.platform, 'read')
  const reads = vi.spyOn(world.secrets, 'read')
  await world.go('Pipe/orders')
  expect(asks).toHaveBeenCalledTimes(1)
  expect(asks).toHaveBeenCalledBefore(reads)
})

test('a reconcile releases its slot when it knows what is there, and keeps it while it may still ask', async () => {
  const world = await given({ 'orders.yaml': pipe('orders'), 'alert.yaml': alert('lag', { name: 'Lag' }) })
  await world.go('Pipe/orders')
  expect(world.placesLeft).toEqual([])
  await world.go('Pipe/orders')
  expect(world.placesLeft).toEqual(['Pipe/orders'])
  world.platform.alerts.set('id-of-lag', { name: 'Lag' })
  await world.go('Alert/lag')
  expect(world.placesLeft).toEqual(['Pipe/orders', 'Alert/lag'])
  world.platform.pipes.clear()
  await world.go('Pipe/orders')
  expect(world.placesLeft).toHaveLength(2)
})

function shown({ board, context }: Given) {
  const status = board.get(ORDERS)
  return status && withBodies(status, desiredBody(DEFAULT, context.store.entry(ORDERS)?.manifest), {})
}

async function drifted(): Promise<Given> {
  const world = await given({ 'orders.yaml': pipe('orders', { replicas: 1 }) })
  await world.go(ORDERS)
  await change(world, { scaling: { replicas: 9, concurrency: 2 }, settings: { db_max_threads: 4 } })
  await world.go(ORDERS)
  return world
}

describe('what is shown of a pipe', () => {
  test('is what the platform said, and what the manifest asks for', async () => {
    const world = await drifted()
    const { mask } = world.context.mask
    const { id } = shown(world)?.observed ?? {}
    expect(id).toBe(mask((await world.record(ORDERS)).remote?.id ?? ''))
    expect(shown(world)).toMatchObject({
      desired: { scaling: { replicas: 1 }, source: { kafka: { topics: 'orders' } } },
      observed: {
        name: 'orders',
        scaling: { replicas: 9, concurrency: 2 },
        settings: { db_max_threads: 4 },
        source: { kafka: { brokers: 'b-1.example:9092', topics: 'orders' } },
      },
    })
    expect(JSON.stringify(shown(world)?.observed)).not.toContain('credentials')
  })

  test('stays what the platform said when the manifest says something else since', async () => {
    const world = await drifted()
    const { observed } = shown(world) ?? {}
    world.write('orders.yaml', pipe('orders', { replicas: 3, topics: 'others' }))
    seedStatus(world.context, world.board, ORDERS)
    expect(shown(world)).toMatchObject({ observed, desired: { source: { kafka: { topics: 'others' } } } })
  })

  test('counts the looks that found it in another state than a healthy one', async () => {
    const world = await given({ 'orders.yaml': pipe('orders', { policy: { healthyStates: ['Running'] } }) })
    await world.go(ORDERS)
    const counts: unknown[] = []
    for (const state of ['Failed', 'Failed', 'Running']) {
      await change(world, { state })
      await world.go(ORDERS)
      counts.push(world.context.store.observation(ORDERS)?.unsettled)
    }
    expect(counts).toEqual([1, 2, 0])
  })

  test('is not called in sync from an edit until its reconcile', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    await world.go(ORDERS)
    world.write('orders.yaml', pipe('orders', { replicas: 3 }))
    seedStatus(world.context, world.board, ORDERS)
    expect(world.board.get(ORDERS)).toMatchObject({ status: 'Progressing', reason: 'Unobserved' })
  })

  test('is from the start that the ledger must be accepted, if the pipe has no record', async () => {
    const world = await given({ 'orders.yaml': pipe('orders'), 'known.yaml': pipe('known') })
    await world.go('Pipe/known')
    const context = { ...world.context, ledger: { ...world.ledger, rollback: 'two records are older' } }
    for (const key of [ORDERS, 'Pipe/known'] as const) seedStatus(context, world.board, key)
    expect(shown(world)).toMatchObject({ reason: 'LedgerFailed' })
    expect(world.board.get('Pipe/known')).toMatchObject({ reason: 'InSync' })
  })

  test('has the labels and the service that a manifest names which never was valid', async () => {
    const world = await given({})
    const wrong = JSON.parse(pipe('orders', { more: { nobody: 'knows' } })) as object
    const metadata = { name: 'orders', labels: { team: 'growth' } }
    world.write('orders.yaml', JSON.stringify({ ...wrong, metadata }))
    seedStatus(world.context, world.board, ORDERS)
    expect(shown(world)).toMatchObject({
      status: 'Invalid',
      labels: { team: 'growth' },
      service: 'analytics',
    })
    await world.go(ORDERS)
    expect(shown(world)).toMatchObject({ labels: { team: 'growth' }, service: 'analytics' })
  })

  test('has the length of a text in its place if masking it would take long', async () => {
    const world = await drifted()
    await change(world, { source: { kafka: { topics: 'x'.repeat(65_537) } } })
    await world.go(ORDERS)
    expect(shown(world)?.observed).toHaveProperty('source.kafka.topics', '[text of 65537 characters]')
    expect(shown(world)?.differences.map(({ field }) => field)).toContain('source.kafka.topics')
  })

  test('stays when the ledger fails for a moment', async () => {
    const world = await drifted()
    const { observed, desired } = shown(world) ?? {}
    world.ledger.unreadable(1)
    await world.go(ORDERS)
    expect(world.board.get(ORDERS)).toMatchObject({ status: 'Failed', reason: 'LedgerFailed', kind: 'Pipe' })
    expect(shown(world)).toMatchObject({ observed, desired })
  })
})

test('an endpoint is what its last upsert was answered, to the next process as well', async () => {
  const before = await given({ 'q.yaml': endpoint('q') })
  await before.go('QueryEndpoint/q')
  const world = await given({}, { around: before.around })
  seedStatus(world.context, world.board, 'QueryEndpoint/q')
  expect(world.board.get('QueryEndpoint/q')?.reply?.()).toContain('https://app.example')
})

test('after an outage, the service that answers again brings those that failed with it, and not before', async () => {
  const world = await given({ 'a.yaml': pipe('a'), 'b.yaml': pipe('b') })
  for (const key of ['Pipe/a', 'Pipe/b', 'Service/analytics'] as const) await world.go(key)
  const ids = await Promise.all(
    (['Pipe/a', 'Pipe/b'] as const).map(async (key) => (await world.record(key)).remote?.id ?? ''),
  )
  for (const id of ids) world.platform.unreadable.add(id)
  for (let time = 0; time < 3; time += 1) for (const key of ['Pipe/a', 'Pipe/b'] as const) await world.go(key)
  const down = await world.go('Service/analytics')
  expect((await world.conditions('Service/analytics')).Ready.reason).toBe('Unavailable')
  expect(down.also).toEqual([])

  for (const id of ids) world.platform.unreadable.delete(id)
  expect((await world.go('Pipe/a')).also).toEqual(['Service/analytics'])
  expect((await world.go('Service/analytics')).also).toEqual(['Pipe/b'])
})
