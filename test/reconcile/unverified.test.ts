import { viewMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { adoptAs } from '../../src/reconcile/operator/adopt.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { given, type Given, MINUTE } from './given.ts'
import { endpoint, lock, pipe, pipeBodyOf } from './manifests.ts'

/*
 * Secrets of an adopted pipe, where the interface cannot update one. The mounted value counts if it is there at the adoption, or if an operator
 * says so later.
 */

const ORDERS: Key = 'Pipe/orders'
const SECRET = 'kafka/password'
const FIELD = 'source.kafka.credentials.password'
const NEVER = new AbortController().signal

function makePipe(world: Given): string {
  return world.platform.make(SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders') })
}

async function adopted(mounted: 'before' | 'later' | 'never'): Promise<{ world: Given; id: string }> {
  const world = await given()
  const id = makePipe(world)
  if (mounted !== 'before') world.secrets.mounted.delete(SECRET)
  world.write('orders.yaml', pipe('orders', { policy: { adopt: id } }))
  await world.go(ORDERS)
  if (mounted === 'later') {
    world.secrets.mounted.set(SECRET, 'first')
    await look(world)
  }
  return { world, id }
}

async function look(world: Given): Promise<void> {
  await world.clock.advance(5 * MINUTE)
  await world.go(ORDERS)
}

function shown(world: Given): readonly (string | undefined)[] {
  const { status, reason } = world.board.get(ORDERS) ?? {}
  return [status, reason]
}

async function adoptNow(world: Given, id: string): Promise<void> {
  const { result } = await adoptAs(world.context, { key: ORDERS, pipeId: id, word: 'adopt' }, NEVER)
  expect(result).toBe('done')
  await look(world)
}

describe('a pipe that was adopted before its secret was mounted', () => {
  test.each([
    {
      by: 'policy.adopt',
      adopt: (world: Given, id: string) =>
        world.write('orders.yaml', pipe('orders', { policy: { adopt: id } })),
    },
    {
      by: 'a Lock',
      adopt: (world: Given, id: string) => {
        world.write('lock.yaml', lock({ [ORDERS]: id }))
        world.write('orders.yaml', pipe('orders'))
      },
    },
  ])('by $by: says from the adoption on that credentials are not verified', async ({ adopt }) => {
    const world = await given()
    world.secrets.mounted.delete(SECRET)
    adopt(world, makePipe(world))
    for (const turn of ['adoption', 'the next look'])
      expect([turn, await world.go(ORDERS), shown(world)]).toEqual([
        turn,
        expect.anything(),
        ['Refused', 'SecretUnavailable'],
      ])
    const message = viewMessage(world.board.get(ORDERS))
    expect(message).toContain('Credentials not verified')
    expect(message).toContain('/secrets/kafka/password')
    expect((await world.conditions(ORDERS)).Ready.status).toBe('True')
    world.secrets.mounted.set(SECRET, 'first')
    await look(world)
    expect(shown(world)).toEqual(['Drifted', 'SecretRotated'])
    expect(viewMessage(world.board.get(ORDERS))).toContain('Credentials not verified')
    expect(viewMessage(world.board.get(ORDERS))).toContain(FIELD)
  })

  test('stays so after a restart, and is not confirmed by an edit that the platform has already', async () => {
    const { world, id } = await adopted('later')
    const stored = world.platform.pipes.get(id)
    if (stored !== undefined) stored.body = { ...stored.body, scaling: { replicas: 2 } }
    const next = await given(
      { 'orders.yaml': pipe('orders', { replicas: 2, policy: { adopt: id } }) },
      { around: world.around },
    )
    expect((await next.go(ORDERS)).action.reason).toBe('Accepted')
    expect(shown(next)).toEqual(['Drifted', 'SecretRotated'])
    await look(next)
    expect(shown(next)).toEqual(['Drifted', 'SecretRotated'])
  })

  test('is in sync once an operator says so; a rotation after that is noticed', async () => {
    const { world, id } = await adopted('later')
    expect(shown(world)).toEqual(['Drifted', 'SecretRotated'])
    await adoptNow(world, id)
    expect(shown(world)).toEqual(['Ready', 'InSync'])
    world.secrets.mounted.set(SECRET, 'second')
    await look(world)
    expect(shown(world)).toEqual(['Drifted', 'SecretRotated'])
    expect(viewMessage(world.board.get(ORDERS))).not.toContain('not verified')
    expect(world.platform.posts).toEqual([])
  })
})

test('a pipe that was adopted with its secret mounted is in sync, and a rotation is noticed', async () => {
  const { world } = await adopted('before')
  await look(world)
  expect(shown(world)).toEqual(['Ready', 'InSync'])
  world.secrets.mounted.set(SECRET, 'second')
  await look(world)
  expect(shown(world)).toEqual(['Drifted', 'SecretRotated'])
})

test('a pipe that was created stays in sync if its secret is unmounted', async () => {
  const world = await given({ 'orders.yaml': pipe('orders'), 'q.yaml': endpoint('q') })
  await world.go(ORDERS)
  await world.go('QueryEndpoint/q')
  world.secrets.mounted.delete(SECRET)
  await look(world)
  await world.go('QueryEndpoint/q')
  expect(shown(world)).toEqual(['Ready', 'InSync'])
  expect(world.board.get('QueryEndpoint/q')?.status).toBe('Ready')
})
