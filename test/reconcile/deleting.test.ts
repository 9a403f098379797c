import { describe, expect, test } from 'vitest'
import type { Kind } from '../../src/kinds/definition.ts'
import type { Key } from '../../src/kinds/key.ts'
import { PIPE } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import type { Profile } from '../../src/kinds/profile.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { given, MINUTE } from './given.ts'
import { during, LISTING } from './given-listing.ts'
import { pipe, pipeBodyOf } from './manifests.ts'

/* A pipe in the state Deleting will be gone: it is never adopted. */

const ORDERS: Key = 'Pipe/orders'
const DELETING = { type: 'other', change: { state: 'Deleting' } } as const

function withStates(kind: Kind): Kind {
  return kind.lifecycle === 'create-once' && PIPE.changes ? { ...kind, changes: PIPE.changes } : kind
}

const PROFILE: Profile = { ...LISTING, kinds: LISTING.kinds.map(withStates) }

describe('a pipe in the state Deleting is not adopted', () => {
  test('by the list; once it is gone, a new one is created', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') }, { profile: PROFILE })
    const id = world.platform.make(SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders') })
    world.platform.listed = (there) => there.map((item) => ({ ...item, state: 'Deleting' }))
    expect((await world.go(ORDERS)).action).toMatchObject({
      reason: 'Ambiguous',
      facts: { differs: ['state'] },
    })
    expect(world.platform.posts).toHaveLength(0)
    world.platform.pipes.delete(id)
    await world.clock.advance(MINUTE)
    expect((await world.go(ORDERS)).action.reason).toBe('New')
  })

  test('by its id', async () => {
    const world = await given({}, { profile: PROFILE })
    const id = world.platform.make(SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders') })
    world.write('orders.yaml', pipe('orders', { policy: { adopt: id } }))
    world.platform.listed = (there) => there.map((item) => ({ ...item, state: 'Deleting' }))
    world.platform.always('get', DELETING)
    expect((await world.go(ORDERS)).outcome).toMatchObject({ result: 'failed', reason: 'AdoptRefused' })
    expect((await world.record(ORDERS)).remote).toBeUndefined()
  })

  test('by a reading of the id that an unfinished reply held', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') }, { profile: PROFILE })
    const cut = { class: 'BadReply', effect: 'unknown', worked: true, showsId: true } as const
    world.platform.script('create', { type: 'fail', ...cut })
    world.platform.always('get', DELETING)
    await during(world, ORDERS, 10 * MINUTE)
    expect((await world.record(ORDERS)).remote).toBeUndefined()
    expect(world.platform.posts).toHaveLength(1)
  })
})
