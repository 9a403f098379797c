import { expect, test } from 'vitest'
import { startLeaderLoop } from '../../src/daemon/leader-loop.ts'
import { given } from '../reconcile/given.ts'
import { pipe } from '../reconcile/manifests.ts'

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
