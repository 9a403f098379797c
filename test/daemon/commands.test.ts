import { expect, test } from 'vitest'
import { startActing } from '../../src/daemon/acting.ts'
import { given } from '../reconcile/given.ts'
import { pipe } from '../reconcile/manifests.ts'
import { until } from '../support/until.ts'

/* A person's command does not wait for other resources, and never meets a reconcile of its own. */

const SUSPEND = { command: 'suspend', reason: 'x', until: '2999-01-01T00:00:00Z' } as const

async function begun() {
  const world = await given({ 'orders.yaml': pipe('orders'), 'refunds.yaml': pipe('refunds') })
  const permit = Promise.withResolvers<undefined>()
  const { platform } = world
  let isWaiting = false
  const platformOfWaits = {
    ...platform,
    async admitCreate(...asked: Parameters<typeof platform.admitCreate>) {
      isWaiting = true
      await permit.promise
      return platform.admitCreate(...asked)
    },
  }
  Object.assign(world.context, { platform: platformOfWaits })
  const acting = startActing({
    ...world,
    concurrency: 1,
    renewed: () => Promise.resolve([]),
    lateForMs: undefined,
    isUnconfirmed: () => false,
    onRun: () => () => undefined,
    onRan: () => undefined,
  })
  acting.ask('Pipe/orders', 0)
  await until('the create waits', () => isWaiting)
  return { world, acting, permit }
}

test('a command waits for the reconcile of its key, and not for others, which can wait long', async () => {
  const { world, acting, permit } = await begun()
  expect((await acting.operate({ ...SUSPEND, key: 'Pipe/refunds' })).result).toBe('done')
  const own = acting.operate({ ...SUSPEND, key: 'Pipe/orders' })
  permit.resolve(undefined)
  expect((await own).result).toBe('done')
  expect((await world.record('Pipe/orders')).remote?.origin).toBe('created')
  const held = () => world.board.list().filter(({ status }) => status === 'Suspended')
  await until('both are held', () => held().length === 2)
  await acting.stop(AbortSignal.abort())
})

test('a command that comes after the stop is refused', async () => {
  const { acting, permit } = await begun()
  permit.resolve(undefined)
  await acting.stop(AbortSignal.timeout(5_000))
  await expect(acting.operate({ ...SUSPEND, key: 'Pipe/refunds' })).rejects.toThrow('stopping')
})
