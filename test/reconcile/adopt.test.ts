import { viewMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import type { Reason } from '../../src/plan/reason.ts'
import type { Given } from './given.ts'
import { given, MINUTE } from './given.ts'
import { lock, pipe, pipeBodyOf } from './manifests.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { recordedPipe } from '../plan/inputs.ts'
import { OTHER_SERVICE_ID, SERVICE_ID } from '../support/manifests.ts'

const NOBODYS = 'c0000000-0000-4000-8000-000000000001'

function stray(world: Given, changes: object = {}): string {
  return world.platform.make(SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders'), ...changes })
}

function adopting(id: string): string {
  return pipe('orders', { policy: { adopt: id } })
}

interface Row {
  readonly why: string
  /** Arranges the world. @returns the id that policy.adopt names */
  readonly before: (world: Given) => Promise<string> | string
  readonly reason: Reason
  readonly posts: number
  readonly holds: 'the id' | 'another' | 'nothing'
}

const ROWS: readonly Row[] = [
  { why: 'that is there', before: (world) => stray(world), reason: 'InSync', posts: 0, holds: 'the id' },
  {
    why: 'in capitals',
    before: (world) => stray(world).toUpperCase(),
    reason: 'InSync',
    posts: 0,
    holds: 'the id',
  },
  {
    why: 'that has other values',
    before: (world) => stray(world, { scaling: { replicas: 8 } }),
    reason: 'Drifted',
    posts: 0,
    holds: 'the id',
  },
  { why: 'that is nowhere', before: () => NOBODYS, reason: 'AdoptRefused', posts: 0, holds: 'nothing' },
  {
    why: 'of another service',
    before: ({ platform }) => platform.make(OTHER_SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders') }),
    reason: 'AdoptRefused',
    posts: 0,
    holds: 'nothing',
  },
  {
    why: 'that another key holds',
    async before(world) {
      world.write('holder.yaml', pipe('holder'))
      await world.go('Pipe/holder')
      return (await world.record('Pipe/holder')).remote?.id ?? ''
    },
    reason: 'AdoptRefused',
    posts: 1,
    holds: 'nothing',
  },
  {
    why: 'that another key may have created, and does not know',
    async before(world) {
      world.platform.script('create', { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true })
      world.write('holder.yaml', pipe('holder'))
      await world.go('Pipe/holder')
      return [...world.platform.pipes.keys()][0] ?? ''
    },
    reason: 'AdoptRefused',
    posts: 1,
    holds: 'nothing',
  },
  {
    why: 'that an unknown create made',
    async before(world) {
      world.write('orders.yaml', pipe('orders'))
      world.platform.script('create', { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true })
      await world.go('Pipe/orders')
      return world.platform.posts[0]?.pipeId ?? ''
    },
    reason: 'InSync',
    posts: 1,
    holds: 'the id',
  },
]

describe('policy.adopt of a pipe', () => {
  test.each(ROWS)('$why: $reason', async ({ before, reason, posts, holds }) => {
    const world = await given()
    const id = await before(world)
    world.write('orders.yaml', adopting(id))
    await world.go('Pipe/orders')
    for (let request = 0; request < 5; request += 1) {
      await world.clock.advance(5 * MINUTE)
      await world.go('Pipe/orders')
    }
    const record = await world.record('Pipe/orders')
    expect(record.conditions?.Synced.reason).toBe(reason)
    expect(world.platform.posts).toHaveLength(posts)
    const held = record.remote?.id.toLowerCase()
    expect(held === undefined ? 'nothing' : held === id.toLowerCase() ? 'the id' : 'another').toBe(holds)
  })

  test('is put off while the platform does not answer, and no resource is created meanwhile', async () => {
    const world = await given()
    const id = stray(world)
    world.platform.script('get', { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false })
    world.write('orders.yaml', adopting(id))
    expect((await world.go('Pipe/orders')).outcome).toMatchObject({ result: 'failed', reason: 'Unavailable' })
    expect((await world.go('Pipe/orders')).outcome).toMatchObject({ result: 'done', reason: 'Adopted' })
    expect(world.platform.posts).toEqual([])
  })

  test.each([
    ['for another key', 'Pipe/other', undefined, 'AdoptRefused'],
    ['for this key', 'Pipe/orders', undefined, 'SecretRotated'],
    ['not, but another one', 'Pipe/other', NOBODYS, 'InSync'],
  ] as const)('that another process records %s while it is read', async (_, key, other, reason) => {
    const world = await given()
    const id = stray(world)
    world.write('orders.yaml', adopting(id))
    const { ledger } = world.around
    const { platform } = world.context
    const read = platform.read.bind(platform)
    Object.assign(platform, {
      async read(...asked: Parameters<typeof read>) {
        const reply = await read(...asked)
        if ((await ledger.get(key)) === undefined)
          await ledger.swap({ ...blankRecord(key), remote: recordedPipe(other ?? id) }, [])
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
    const world = await given()
    const id = stray(world)
    world.write('lock.yaml', lock({ 'Pipe/orders': id }))
    world.write('orders.yaml', pipe('orders', { policy: { recreate: id } }))
    await world.go('Pipe/orders')
    expect((await world.record('Pipe/orders')).remote).toMatchObject({
      id,
      refutedAt: world.clock.now(),
    })
  })

  test('of a pipe that is not there refuses, and creates nothing until it is corrected', async () => {
    const world = await given({
      'lock.yaml': lock({ 'Pipe/orders': NOBODYS }),
      'orders.yaml': pipe('orders'),
    })
    await world.go('Pipe/orders')
    expect(world.board.get('Pipe/orders')).toMatchObject({ status: 'Refused', reason: 'AdoptRefused' })
    expect(world.platform.posts).toEqual([])
    world.directory.files.delete('lock.yaml')
    world.read()
    await world.clock.advance(MINUTE * 20)
    expect((await world.go('Pipe/orders')).action.reason).toBe('New')
  })

  test.each(['a Lock', 'policy.adopt'])(
    'of a pipe that is not there is tried again after an unknown create, and told once: by %s',
    async (by) => {
      const world = await given({ 'orders.yaml': pipe('orders') })
      world.platform.script('create', { type: 'fail', class: 'BadReply', effect: 'unknown', worked: false })
      await world.go('Pipe/orders')
      if (by === 'a Lock') world.write('lock.yaml', lock({ 'Pipe/orders': NOBODYS }))
      else world.write('orders.yaml', adopting(NOBODYS))
      const told: boolean[] = []
      for (let time = 0; time < 3; time += 1) {
        await world.go('Pipe/orders')
        const last = world.events.findLast(({ type }) => type === 'ReconcileFinished')
        told.push(last?.type === 'ReconcileFinished' && last.changed)
        await world.clock.advance(6 * MINUTE)
      }
      expect(told).toEqual([true, false, false])
      expect(world.platform.requests.get).toBe(3)
    },
  )

  test('says nothing of a key that holds its pipe', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    await world.go('Pipe/orders')
    world.write('lock.yaml', lock({ 'Pipe/orders': stray(world) }))
    expect((await world.go('Pipe/orders')).action.reason).toBe('InSync')
  })
})

/** An adopted pipe, whose manifest names it. */
async function adopted(): Promise<{ readonly world: Given; readonly id: string }> {
  const world = await given()
  const id = world.platform.make(SERVICE_ID, { name: 'old', ...pipeBodyOf('old') })
  world.write('old.yaml', pipe('old', { policy: { adopt: id } }))
  await world.go('Pipe/old')
  return { world, id }
}

describe('a manifest that names the pipe of a record whose manifest is gone', () => {
  const waysToName = [
    { by: 'policy.adopt', name: (id: string) => ({ policy: { adopt: id.toUpperCase() } }) },
    { by: 'a Lock', name: () => ({}) },
  ] as const

  test.each(waysToName)(
    'is its new name: the record moves, whatever else was edited: by $by',
    async ({ by, name }) => {
      const { world, id } = await adopted()
      if (by === 'a Lock') world.write('lock.yaml', lock({ 'Pipe/new': id }))
      world.remove('old.yaml')
      world.write('new.yaml', pipe('new', { ...name(id), replicas: 3 }))
      expect((await world.go('Pipe/new')).action.reason).toBe('RenameWaiting')
      expect(viewMessage(world.board.get('Pipe/new'))).toContain(
        `${by === 'a Lock' ? 'A Lock' : by} names the pipe of Pipe/old (old.yaml), whose record cannot move yet.`,
      )
      world.readAgain()
      const { movedFrom, action } = await world.go('Pipe/new')
      expect([movedFrom, action.reason]).toEqual(['Pipe/old', 'NotUpdatable'])
      expect((await world.record('Pipe/new')).remote).toMatchObject({ id, origin: 'adopted' })
      expect(await world.ledger.list()).not.toContainEqual(expect.objectContaining({ key: 'Pipe/old' }))
      expect(world.platform.posts).toEqual([])
    },
  )
})

/** Deletes the pipe that is there, and waits until it is replaced. */
async function replaced(world: Given, key: 'Pipe/orders' | 'Pipe/new'): Promise<string> {
  const before = (await world.record(key)).remote?.id ?? ''
  world.platform.pipes.delete(before)
  for (let minute = 0; minute < 5 * 60; minute += 1) {
    await world.clock.advance(MINUTE)
    await world.go(key)
    const { remote } = await world.record(key)
    if (remote !== undefined && remote.id !== before) return remote.id
  }
  throw new Error(`${key} was not replaced`)
}

describe('policy.adopt that stays in the manifest of a pipe that was deleted', () => {
  test('gives way to the new pipe, however often that is replaced', async () => {
    const world = await given()
    world.write('orders.yaml', adopting(stray(world)))
    await world.go('Pipe/orders')
    for (const time of [1, 2, 3]) {
      const id = await replaced(world, 'Pipe/orders')
      await world.clock.advance(5 * MINUTE)
      expect((await world.go('Pipe/orders')).action.reason).toBe('InSync')
      expect((await world.record('Pipe/orders')).remote?.id).toBe(id)
      expect(world.platform.posts).toHaveLength(time)
    }
  })
})
