import { expect, test } from 'vitest'
import { startLeaderLoop } from '../../src/daemon/leader-loop.ts'
import { given } from '../reconcile/given.ts'
import { endpoint, pipe } from '../reconcile/manifests.ts'

/* A person's command does not wait for other resources, and never meets a reconcile of its own. */

const SUSPEND = { command: 'suspend', reason: 'x', until: '2999-01-01T00:00:00Z' } as const

async function begun() {
  const world = await given({ 'orders.yaml': pipe('orders'), 'refunds.yaml': pipe('refunds') })
  const permit = Promise.withResolvers<undefined>()
  const { platform } = world
  const waits = Promise.withResolvers<undefined>()
  const held = Promise.withResolvers<undefined>()
  const platformOfWaits = {
    ...platform,
    async admitCreate(...asked: Parameters<typeof platform.admitCreate>) {
      waits.resolve(undefined)
      const { signal } = asked[2]
      const stopped = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      )
      await Promise.race([permit.promise, stopped])
      return platform.admitCreate(...asked)
    },
  }
  Object.assign(world.context, { platform: platformOfWaits })
  const acting = startLeaderLoop({
    ...world,
    concurrency: 1,
    renewed: () => Promise.resolve([]),
    lateForMs: undefined,
    isUnconfirmed: () => false,
    onRun: () => () => undefined,
    onRan() {
      const all = world.board.list().filter(({ status }) => status === 'Suspended')
      if (all.length === 2) held.resolve(undefined)
    },
  })
  acting.ask('Pipe/orders', 0)
  await waits.promise
  return { world, acting, permit, held }
}

test('a command waits for no permit, of its key or of others', async () => {
  const { world, acting, held } = await begun()
  expect((await acting.operate({ ...SUSPEND, key: 'Pipe/refunds' })).result).toBe('done')
  expect((await acting.operate({ ...SUSPEND, key: 'Pipe/orders' })).result).toBe('done')
  await held.promise
  expect(world.platform.posts).toEqual([])
  await acting.stop(AbortSignal.abort())
})

test('a command that comes after the stop is refused', async () => {
  const { acting, permit } = await begun()
  permit.resolve(undefined)
  await acting.stop(new AbortController().signal)
  await expect(acting.operate({ ...SUSPEND, key: 'Pipe/refunds' })).rejects.toThrow('stopping')
})

test('a late request of the former leader is judged by the records that it left', async () => {
  const key = 'QueryEndpoint/analytics'
  const world = await given({ 'endpoint.yaml': endpoint('analytics') })
  await world.go(key)
  const left = world.context.store.record(key)
  world.write('endpoint.yaml', endpoint('analytics', { roles: [] }))
  const ran = { times: 0 }
  const acting = startLeaderLoop({
    ...world,
    concurrency: 1,
    renewed: () => Promise.resolve([]),
    lateForMs: 1_000,
    isUnconfirmed: () => false,
    onRun: () => () => undefined,
    onRan: () => void (ran.times += 1),
  })
  acting.ask(key, 0)
  await expect.poll(() => ran.times).toBe(1)
  const marked: unknown[] = []
  const { store } = world.context
  const mark = store.overtaken.set.bind(store.overtaken)
  store.overtaken.set = (of, record) => (marked.push(record), mark(of, record))
  await world.clock.advance(1_000)
  await expect.poll(() => ran.times).toBe(2)
  expect(marked).toEqual([left])
  expect(store.overtaken.size).toBe(0)
  await acting.stop(AbortSignal.abort())
})
