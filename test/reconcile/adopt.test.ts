import { describe, expect, test } from 'vitest'
import { given } from './given.ts'
import { pipeBodyOf, service } from './manifests.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { recordedPipe } from '../plan/inputs.ts'
import { operate } from '../../src/reconcile/operator/operate.ts'
import { OTHER_SERVICE_ID } from '../support/manifests.ts'
import { idOf, play, rowsOf, story, times, worldAfter } from './story.ts'

const NOBODYS = 'c0000000-0000-4000-8000-000000000001'
const ADOPTING = 'write orders adopt=#1'

describe('policy.adopt of a pipe', () => {
  const ROWS = `
    that is there | make orders | InSync | 0 | 1
    that has other values | make orders replicas=8 | Drifted | 0 | 1
    that is nowhere | | AdoptRefused | 0 |
    that another key holds | write holder; look holder | AdoptRefused | 1 |
    that another key may have created | create: unclear after the work; write holder; look holder | AdoptRefused | 1 |
    that an unknown create made | write orders; create: unclear after the work; look orders | InSync | 1 | 1`
  test.each(rowsOf(ROWS))('%s', async (_, before, reason, sent, held) => {
    const world = await worldAfter(`${before}; ${ADOPTING}; look orders; ${times(5, '5 min; look orders')}`, {
      sent: Number(sent),
    })
    const { conditions, remote } = await world.record('Pipe/orders')
    expect(conditions?.Synced.reason).toBe(reason)
    expect(remote?.id.slice(-1) ?? '').toBe(held)
  })

  test('of another service is refused', async () => {
    const world = await given()
    const foreign = world.platform.make(OTHER_SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders') })
    await play(
      world,
      `write orders adopt=${foreign}; ${times(6, 'look orders; 5 min')}; shown orders: AdoptRefused`,
    )
    expect((await world.record('Pipe/orders')).remote).toBeUndefined()
    expect(world.platform.posts).toEqual([])
  })

  test('is put off while the platform does not answer, and no resource is created meanwhile', () =>
    story(`make orders; get: lost; ${ADOPTING}; look orders: Unavailable; look orders: Adopted`, { sent: 0 }))

  test.each([
    ['for another key', 'Pipe/other', undefined, 'AdoptRefused'],
    ['for this key', 'Pipe/orders', undefined, 'SecretRotated'],
    ['not, but another one', 'Pipe/other', NOBODYS, 'InSync'],
  ] as const)('that another process records %s while it is read', async (_, key, other, reason) => {
    const world = await worldAfter(`make orders; ${ADOPTING}`)
    const [id = ''] = world.platform.pipes.keys()
    const { ledger } = world.around
    const { platform } = world.context
    const read = platform.read.bind(platform)
    Object.assign(platform, {
      async read(...asked: Parameters<typeof read>) {
        const reply = await read(...asked)
        if ((await ledger.get(key)) === undefined)
          await ledger.swap({ ...blankRecord(key), remote: recordedPipe(other ?? id) }, [])
        world.ledger.toRead.set(key, {})
        return reply
      },
    })
    await world.go('Pipe/orders')
    const record = await world.record('Pipe/orders')
    expect([record.conditions?.Synced.reason, record.remote?.id]).toEqual([
      reason,
      reason === 'AdoptRefused' ? undefined : id,
    ])
  })
})

describe('a Lock', () => {
  test('adopts a pipe that policy.recreate calls gone, and that refutes the line', async () => {
    const world = await worldAfter('make orders; lock orders=#1; write orders recreate=#1; look orders', {
      holds: { 'Pipe/orders': '1' },
    })
    expect((await world.record('Pipe/orders')).remote?.refutedAt).toBe(world.clock.now())
  })

  test('of a pipe that is not there refuses, and creates nothing until it is corrected', () =>
    story(
      `lock orders=${NOBODYS}; write orders; look orders; shown orders: Refused; shown orders: AdoptRefused; remove lock;
      20 min; look orders: New`,
      { sent: 1 },
    ))

  test.each([`lock orders=${NOBODYS}`, `write orders adopt=${NOBODYS}`])(
    'of a pipe that is not there is tried again after an unknown create, and told once: by %s',
    async (by) => {
      const world = await worldAfter(`write orders; create: unclear; look orders; ${by}`)
      const told: boolean[] = []
      for (let time = 0; time < 3; time += 1) {
        await world.go('Pipe/orders')
        const last = world.events.findLast(({ type }) => type === 'ReconcileFinished')
        told.push(last?.type === 'ReconcileFinished' && last.changed)
        await play(world, '6 min')
      }
      expect(told).toEqual([true, false, false])
      expect(world.platform.requests.get).toBe(3)
    },
  )

  test('says nothing of a key that holds its pipe', () =>
    story('write orders; look orders; make orders; lock orders=#2; look orders: InSync'))
})

test.each([
  ['policy.adopt', 'new adopt=#1', 'policy.adopt of Pipe/new names the pipe of Pipe/old (old.yaml)'],
  ['a Lock', 'new', 'A Lock gives the pipe of Pipe/old (old.yaml) to Pipe/new'],
])(
  'a manifest that names the pipe of a record whose manifest is gone: the record moves, whatever was edited, by %s',
  async (by, name, claim) => {
    const world = await worldAfter(
      `make old; write old adopt=#1; look old; ${by === 'a Lock' ? 'lock new=#1; ' : ''}remove old; write ${name} replicas=3;
      look new: Ambiguous renamed-from;
    tells new: ${claim}. Its record cannot move to Pipe/new yet: Pipe/old still has a manifest;
    read again; look new: from Pipe/old; shown new: NotUpdatable`,
      { sent: 0, holds: { 'Pipe/new': '1' } },
    )
    expect((await world.record('Pipe/new')).remote?.origin).toBe('adopted')
    expect(await world.ledger.list()).not.toContainEqual(expect.objectContaining({ key: 'Pipe/old' }))
  },
)

test('policy.adopt that stays in the manifest of a pipe that was deleted gives way to the new pipe, however often that is replaced', async () => {
  const world = await worldAfter(`make orders; ${ADOPTING}; look orders`)
  for (const time of [1, 2, 3]) {
    const before = await idOf(world, 'Pipe/orders')
    await play(world, 'delete orders')
    for (let minute = 0; minute < 5 * 60 && world.platform.posts.length < time; minute += 1)
      await play(world, '1 min; look orders')
    expect(await idOf(world, 'Pipe/orders')).not.toBe(before)
    await play(world, '5 min; look orders: InSync')
    expect(await idOf(world, 'Pipe/orders')).toBe(world.platform.posts[time - 1]?.pipeId)
    expect(world.platform.posts).toHaveLength(time)
  }
})

describe('a line that a message advises can stand beside', () => {
  const GONE = `make orders; ${ADOPTING}; look orders; 1 h; look orders; delete orders; look orders`
  const ROWS = `
    policy.adopt: recreate | ${GONE}; tells orders: policy.recreate; ${ADOPTING} recreate=#1; look orders: New; look orders: InSync | 1
    policy.adopt: retryCreate | ${GONE}; recreate orders; create: unclear; look orders; tells orders: policy.retryCreate;
      30 min; ${ADOPTING} retryCreate=@orders; look orders: New; look orders: InSync | 2
    policy.adopt of a replaced pipe: resolve | ${GONE}; recreate orders; look orders; 3 h; look orders; delete orders; recreate orders;
      create: unclear after the work; look orders; 1 h; look orders; tells orders: --adopt; resolve orders=#3; look orders: InSync | 2
    policy.replaces: adopt | write old topics=t; look old; write new topics=t replaces=Pipe/old; create: unclear after the work; look new;
      tells new: policy.adopt; write new topics=t replaces=Pipe/old adopt=#2; look new: Adopt; look new: InSync | 2
    policy.replaces: adopt, of the pipe that is replaced | write old topics=t; look old; remove old; read again; look old;
      write new topics=t replaces=Pipe/old adopt=#1; look new: AdoptRefused | 1`
  test.each(rowsOf(ROWS))('%s', (_, text, sent) => story(text, { sent: Number(sent) }))
})

test.each([
  ['adopt', 'make orders; write a suspended topics=a; write b suspended topics=b'],
  ['resolve', 'make orders; write a suspended topics=a; write b topics=b; create: lost; look b'],
] as const)(
  'of two commands for one pipe that come together, adopt and %s, one is refused',
  async (command, before) => {
    const world = await worldAfter(before)
    const [pipeId = ''] = world.platform.pipes.keys()
    const signal = new AbortController().signal
    const said = await Promise.all([
      operate(world.context, { command: 'adopt', key: 'Pipe/a', pipeId }, signal),
      operate(world.context, { command, key: 'Pipe/b', pipeId }, signal),
    ])
    expect(said.map(({ result }) => result).toSorted()).toEqual(['done', 'refused'])
    expect((await world.ledger.list()).flatMap(({ remote }) => remote?.id ?? [])).toEqual([pipeId])
    expect(world.context.store.claimantOf(pipeId, 'Pipe/c')).toBeUndefined()
  },
)

test('an adoption that the ledger does not take is not called done', async () => {
  const world = await worldAfter('make orders; write a suspended topics=a')
  const [pipeId = ''] = world.platform.pipes.keys()
  world.ledger.script('fails')
  const { signal } = new AbortController()
  const said = operate(world.context, { command: 'adopt', key: 'Pipe/a', pipeId }, signal)
  await expect(said).rejects.toThrow('the disk is full')
})

test('a pipe that is adopted under its own key stays one that Pipewright created', async () => {
  const world = await worldAfter('write orders; look orders')
  const [pipeId = ''] = world.platform.pipes.keys()
  const { conditions } = await world.record('Pipe/orders')
  await play(world, 'adopt orders=#1: done')
  expect(await world.record('Pipe/orders')).toMatchObject({
    remote: { id: pipeId, origin: 'created' },
    conditions,
  })
})

test('the pipe of an unknown create is adopted where it was asked for, though the manifest names another service', async () => {
  const world = await worldAfter('write orders; create: lost after the work; look orders; 1 h')
  world.write('other.yaml', service('other', OTHER_SERVICE_ID))
  await play(world, 'write orders service=other; resolve orders=#1: Linked Pipe/orders')
  expect((await world.record('Pipe/orders')).service?.name).toBe('analytics')
})

test.each(['recreate orders', `adopt orders=${NOBODYS}`])(
  'a pipe that a person called gone, and that is found by "%s", is missed anew before it is created again',
  (command) =>
    story(
      `write orders; look orders; hide orders; recreate orders: is gone; show orders; ${command}: exists;
      hide orders; look orders: MissingUnconfirmed`,
      { sent: 1 },
    ),
)
