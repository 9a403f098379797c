import { conditionMessage } from '../support/messages.ts'
import { describe, expect, test, vi } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { type Given, given, HOUR, SECOND } from './given.ts'
import { alert, endpoint, lock, pipe, service } from './manifests.ts'
import { OTHER_SERVICE_ID, ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { fails, idOf, play, story, times, worldAfter } from './story.ts'

const ORDERS: Key = 'Pipe/orders'

/** Two pipes that were made an hour ago, and seen since. */
const SETTLED = 'write orders; write other; look orders; look other; 1 h; look orders; look other'
const ROUND = 'look orders; look other; 35 s'
/** Turns of the first pipe until its 404s are believed, with the other one beside it. */
const missed = (reason: string) => `${times(2, ROUND)}; look orders: ${reason}; look other; 35 s`

test.each(['policy.adopt', 'a Lock'])('the pipe given up, named by %s, answers no create', async (by) => {
  const world = await worldAfter(SETTLED)
  const id = await idOf(world, ORDERS)
  if (by === 'a Lock') world.write('lock.yaml', lock({ [ORDERS]: id }))
  else await play(world, 'write orders adopt=#1')
  const still = times(3, 'look orders: OutcomeUnknown; 1 min')
  await play(world, `hide orders; create: lost after the work; ${times(3, ROUND)}`)
  expect(world.platform.posts).toHaveLength(3)
  world.platform.hidden.clear()
  await play(world, still)
  expect(await world.record(ORDERS)).toMatchObject({
    intent: { state: 'unknown' },
    former: { remote: { id } },
  })
  expect((await world.conditions(ORDERS)).Synced.reason).toBe('OutcomeUnknown')
})

test.each([
  ['while the other one has its manifest still', 'write other', 'Ambiguous claimed'],
  ['when the other one has none any more', 'remove other', 'Ambiguous unclaimed'],
])(
  'a pipe that is gone, and whose manifest is that of another one now, is not created as that one, %s',
  (_, other, is) =>
    story(
      `${SETTLED}; delete orders; write orders name=other topics=other; ${other}; write third; look third; read again;
    ${times(4, 'look orders; look third; 35 s')}; look orders: refuse ${is}`,
      { sent: 3 },
    ),
)

test('a pipe that is gone is replaced, whoever has made another one of its name since', () =>
  story(
    `${SETTLED}; write copy name=orders replaces=Pipe/orders; look copy: create New; delete orders; ${missed('Missing')}`,
    { sent: 4 },
  ))

test('the pipe of a removed manifest that another key has, too, is not to be deleted', async () => {
  const world = await worldAfter(SETTLED)
  const { remote } = await world.record(ORDERS)
  await world.around.ledger.swap({ ...(await world.record('Pipe/other')), remote }, [])
  const next = await play(world, 'remove orders; restart; read again; look orders: Orphaned')
  const said = conditionMessage((await next.conditions(ORDERS)).Synced)
  expect(said).toMatch(/belongs to Pipe\/other. To remove its record: "pipewright forget Pipe\/orders".$/)
})

describe('a pipe is looked for with the credentials of its own service', () => {
  test('when the name of that service is given to another one', async () => {
    const world = await worldAfter(SETTLED)
    world.write('service.yaml', serviceOf('analytics', OTHER_SERVICE_ID, 'other-api'))
    world.write('old.yaml', serviceOf('analytics-old', SERVICE_ID, 'api'))
    const asked = vi.spyOn(world.context.platform, 'read')
    await play(world, 'write orders service=analytics-old; look orders: InSync; look other: NotUpdatable')
    expect(
      asked.mock.calls.map(([target]) => [target.service?.serviceId, target.service?.secretName]),
    ).toEqual([
      [SERVICE_ID, 'api'],
      [SERVICE_ID, 'api'],
    ])
  })

  test('and with no others: when no manifest is for that service any more, it is not asked for, nor called missing', async () => {
    const world = await worldAfter(SETTLED)
    world.platform.pipes.clear()
    world.write('service.yaml', serviceOf('analytics', OTHER_SERVICE_ID, 'other-api'))
    const { get } = world.platform.requests
    await play(world, times(20, 'look orders: NotUpdatable; 1 min'))
    expect(world.platform.requests.get).toBe(get)
    expect(world.platform.posts).toHaveLength(2)
  })
})

test('what a create depends on is ready when this process has found it so: what an earlier one knew may have changed', async () => {
  const before = await given({ 'lag.yaml': alert('lag', {}, { healthyStates: ['OK'] }) })
  const isNow = (state: string) => before.platform.alerts.set('id-of-lag', { id: 'id-of-lag', state })
  isNow('OK')
  await play(before, 'write orders dependsOn=Alert/lag; look Alert/lag: InSync')
  isNow('ALERT')
  const waits = 'look orders: DependencyNotReady'
  await play(before, `restart; ${waits}; look Alert/lag; ${waits}`)
  isNow('OK')
  const next = await play(before, 'restart; look orders')
  expect((await next.go('Alert/lag')).also).toContain(ORDERS)
  await play(next, 'look orders: create New')
})

function serviceOf(name: string, serviceId: string, secret: string): string {
  const spec = { organizationId: ORGANIZATION, serviceId, credentials: { secretRef: { name: secret } } }
  return service(name, serviceId).replace(/"spec":.*$/s, `"spec":${JSON.stringify(spec)}}`)
}

describe('a row of 404s', () => {
  test('is broken by any other answer, and begins anew', () => {
    const round = `hide orders; ${ROUND}; show orders; get: lost; look orders; 1 s`
    return story(`${SETTLED}; ${times(4, round)}; hide orders; look orders: MissingUnconfirmed`, { sent: 2 })
  })

  test('beside a pipe that nobody asks for, since it is suspended, proves nothing, however long, but is reported', async () => {
    const world = await worldAfter(SETTLED)
    const suspend = { reason: 'a freeze', until: '2099-01-01T00:00:00Z' }
    world.write('other.yaml', pipe('other', { policy: { suspend } }))
    world.platform.pipes.clear()
    expect((await world.go(ORDERS)).also).not.toContain('Pipe/other')
    const rounds = [14, 15].map((count, at) =>
      times(count, `1 min; look orders: ${['MissingUnconfirmed', 'MassMissing'][at]}`),
    )
    await play(world, rounds.join('; '))
    expect(world.platform.posts).toHaveLength(2)
  })

  test('of most pipes of a large service is seen to be of most, whichever are asked for first', async () => {
    const { world, names } = await made(60)
    // The first ones are found; two thirds are not.
    for (const name of names.slice(20)) await play(world, `delete ${name}`)
    const last: Key = 'Pipe/p59'
    const reasons = []
    for (let look = 0; look < 4; look += 1) {
      const { action, also } = await world.go(last)
      reasons.push(action.reason)
      await world.clock.advance(1)
      for (const other of also) await world.go(other)
      await world.clock.advance(35 * SECOND)
    }
    expect(reasons.at(-1)).toBe('MassMissing')
    expect(world.platform.posts).toHaveLength(60)
  })
})

/** So many pipes, made an hour ago, and seen since. */
async function made(count: number): Promise<{ readonly world: Given; readonly names: readonly string[] }> {
  const names = Array.from({ length: count }, (_, index) => `p${index}`)
  const files = Object.fromEntries(names.map((name) => [`${name}.yaml`, pipe(name)]))
  const looks = names.map((name) => `look ${name}`).join('; ')
  return { world: await play(await given(files, { maxCreates: 1_000 }), `${looks}; 1 h; ${looks}`), names }
}

test('policy.recreate that stood there while the pipe was found counts no more after the pipe was taken over', async () => {
  const world = await worldAfter(`${SETTLED}; write orders recreate=#1`)
  world.write('lock.yaml', lock({ [ORDERS]: await idOf(world, ORDERS) }))
  await world.go(ORDERS)
  expect((await world.record(ORDERS)).remote?.refutedAt).toBeDefined()
  await world.around.ledger.swap({ ...(await world.record(ORDERS)), remote: undefined }, []) // as one that is taken over has
  const next = await play(
    world,
    'restart; look orders: Adopt; delete orders; 1 h; look orders: MissingUnconfirmed',
  )
  expect(next.platform.posts).toHaveLength(2)
})

/** A create of which nobody knows what became. */
const UNKNOWN = 'write orders; create: lost after the work; look orders'

describe('a create of unknown outcome stays in sight', () => {
  test('while its Service manifest has errors', async () => {
    const world = await worldAfter(UNKNOWN)
    world.write('service.yaml', service().replace('organizationId', 'organisationId'))
    await world.go(ORDERS)
    expect((await world.conditions(ORDERS)).Synced.reason).toBe('OutcomeUnknown')
  })

  test('while the pipe that a person names is not there', async () => {
    const world = await worldAfter(
      `${UNKNOWN}; write orders adopt=${ORGANIZATION}; look orders; tells orders: There is no pipe ${ORGANIZATION};
      tells orders: pipewright resolve Pipe/orders --retry`,
    )
    expect((await world.conditions(ORDERS)).Synced.reason).toBe('OutcomeUnknown')
  })
})

test('a pipe that was renamed in the console, as its manifest was, has its new name: another one of that name waits', () =>
  story(
    `${SETTLED}; write orders name=orders-x topics=orders; edit #1 name=orders-x; look orders: InSync accepted;
    write copy name=orders-x topics=else; look copy: Ambiguous claimed`,
  ))

test('an endpoint whose request may or may not have been carried out is applied again, also when the edit is taken back', async () => {
  const q: Key = 'QueryEndpoint/q'
  const world = await given({ 'q.yaml': endpoint('q') })
  await world.go(q)
  world.write('q.yaml', endpoint('q', { roles: ['sql_console_admin'] }))
  world.platform.script('upsert', fails('Unavailable', 'unknown', true))
  await world.go(q)
  world.write('q.yaml', endpoint('q'))
  await world.clock.advance(HOUR / 2)
  await play(world, `look ${q}: upsert; look ${q}: InSync`)
})

test('policy.retryCreate that was read too early counts no more after a rename that came with it', () =>
  story(
    `${UNKNOWN}; remove orders; write orders2 name=orders topics=orders retryCreate=@orders; read again;
    look orders2: OutcomeUnknown; 1 h; look orders2: OutcomeUnknown`,
    { sent: 1 },
  ))

test('an edit that the platform has already does not hide that a secret was rotated', () =>
  story(
    `${SETTLED}; mount kafka/password=another; look orders: SecretRotated; edit #1 replicas=2; write orders replicas=2;
    look orders: InSync accepted; look orders: SecretRotated`,
  ))

describe('a Lock that names', () => {
  test('the pipe that was replaced does not take the place of a new one that nobody has seen yet', async () => {
    const world = await worldAfter(SETTLED)
    world.write('lock.yaml', lock({ [ORDERS]: await idOf(world, ORDERS) }))
    await play(world, `hide orders; ${missed('Missing')}`)
    const id = await idOf(world, ORDERS)
    world.platform.hidden.clear()
    await play(world, `delete orders; 1 h; ${missed('NeverSeen')}`)
    expect(await idOf(world, ORDERS)).toBe(id)
  })

  test('another pipe than policy.adopt is heard when that one is gone', async () => {
    const world = await worldAfter(`${SETTLED}; make locked; write orders adopt=#1`)
    world.write('lock.yaml', lock({ [ORDERS]: [...world.platform.pipes.keys()][2] ?? '' }))
    await play(world, `delete orders; ${missed('Adopt')}`)
    expect(await idOf(world, ORDERS)).toBe([...world.platform.pipes.keys()][1])
    expect(world.platform.posts).toHaveLength(2)
  })

  test.each([true, false])(
    'the missing pipes themselves does not lift the create limit (a Lock: %s)',
    async (is) => {
      const { world: before, names } = await made(24)
      const held = names.map(async (name) => [`Pipe/${name}`, await idOf(before, `Pipe/${name}`)] as const)
      const ids = Object.fromEntries(await Promise.all(held))
      const files = is ? { 'lock.yaml': lock(ids) } : {}
      const world = await given(files, { around: before.around, maxCreates: 4 })
      for (const name of names.slice(0, 6)) await play(world, `delete ${name}`)
      let reasons: readonly string[] = []
      for (let look = 0; look < 4; look += 1) {
        reasons = []
        for (const name of names) reasons = [...reasons, (await world.go(`Pipe/${name}`)).action.reason]
        await world.clock.advance(35 * SECOND)
      }
      expect(reasons.filter((reason) => reason === 'CreateLimit')).toHaveLength(6)
      expect(world.platform.posts).toHaveLength(24)
    },
  )
})
