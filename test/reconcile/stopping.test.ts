import { describe, expect, test } from 'vitest'
import type { CreateFailpoint } from '../../src/contract/failpoint.ts'
import { ended, given } from './given.ts'
import { alert, endpoint, pipe } from './manifests.ts'
import type { ModelOperation } from './model-platform.ts'
import type { Key } from '../../src/kinds/key.ts'

const REASON = new DOMException('Pipewright is stopping', 'AbortError')

async function hops(): Promise<void> {
  for (let hop = 0; hop < 200; hop += 1) await Promise.resolve()
}

/** Each wait of a reconcile that is to hear the stop. */
const WAITS: Readonly<
  Record<string, { readonly key: Key; readonly at: ModelOperation; readonly writes?: number }>
> = {
  'the budget of a create': { key: 'Pipe/new', at: 'admit' },
  'a look at a pipe': { key: 'Pipe/orders', at: 'get' },
  'a look at an alert': { key: 'Alert/lag', at: 'alert' },
  'an upsert, whose body is unknown from before it on,': {
    key: 'QueryEndpoint/analytics',
    at: 'upsert',
    writes: 1,
  },
}

describe('a stop', () => {
  test.each(Object.entries(WAITS))(
    'during %s ends the reconcile, and writes nothing else',
    async (_why, { key, at, writes = 0 }) => {
      const world = await given({
        'orders.yaml': pipe('orders'),
        'alert.yaml': alert('lag'),
        'endpoint.yaml': endpoint('analytics'),
      })
      await world.go('Pipe/orders')
      world.write('new.yaml', pipe('new'))
      const [written, posts] = [world.writes.length, world.platform.posts.length]
      const told = () => world.events.filter(({ type }) => type === 'ConditionChanged').length
      const before = told()
      world.platform.script(at, { type: 'slow', until: new Promise(() => undefined) })
      const stopping = new AbortController()
      const request = world.begin(key, stopping.signal)
      await hops()
      stopping.abort(REASON)
      const { outcome } = (await ended(world.clock, request)) ?? {}
      expect(outcome).toEqual({ result: 'stopped' })
      expect(world.writes).toHaveLength(written + writes)
      expect(world.platform.posts).toHaveLength(posts)
      expect(told()).toBe(before)
    },
  )

  test('before a reconcile begins ends it without a request', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    const stopped = AbortSignal.abort(REASON)
    expect((await world.request('Pipe/orders', stopped))?.outcome).toEqual({ result: 'stopped' })
    expect(world.writes).toEqual([])
    expect(world.platform.posts).toEqual([])
  })

  test('in the middle of a create is not heard: the id is kept', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    const { promise, resolve } = Promise.withResolvers<void>()
    world.platform.script('create', { type: 'slow', until: promise })
    const stopping = new AbortController()
    const request = world.begin('Pipe/orders', stopping.signal)
    await hops()
    expect(world.platform.posts).toHaveLength(1)
    stopping.abort(REASON)
    await hops()
    resolve()
    expect((await ended(world.clock, request))?.outcome).toMatchObject({ result: 'done', reason: 'Created' })
    const { remote: made, conditions } = await world.record('Pipe/orders')
    expect(made?.id).toBe([...world.platform.pipes.keys()][0])
    expect(conditions?.Synced.reason).toBe('InSync')
  })

  test('while the id cannot be written does not give it up', async () => {
    const world = await given({ 'orders.yaml': pipe('orders') })
    world.ledger.script('ok', 'fails', 'fails', 'fails')
    const stopping = new AbortController()
    const request = world.begin('Pipe/orders', stopping.signal)
    await hops()
    stopping.abort(REASON)
    await ended(world.clock, request)
    expect((await world.record('Pipe/orders')).remote?.id).toBe([...world.platform.pipes.keys()][0])
  })

  test('between the budget and the intent opens no intent', async () => {
    const stopping = new AbortController()
    const fail = async (at: CreateFailpoint) => {
      if (at === 'before-intent') stopping.abort(REASON)
    }
    const world = await given({ 'orders.yaml': pipe('orders') }, { fail })
    expect((await world.request('Pipe/orders', stopping.signal))?.outcome).toEqual({ result: 'stopped' })
    expect(world.writes).toEqual([])
  })
})
