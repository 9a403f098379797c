import { conditionMessage } from '../support/messages.ts'
import { expect, test } from 'vitest'
import { forgetKey } from '../../src/reconcile/operator/operate.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { given, HOUR } from './given.ts'
import { pipe, pipeBodyOf } from './manifests.ts'

/* A process acts whose manifests may be older than what another one has acted on: what they say may be taken back by now. */

const OLDER = 'r2'

const LOST = { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false } as const

async function withUnknown() {
  const world = await given({ 'orders.yaml': pipe('orders') })
  world.platform.script('create', LOST)
  await world.go('Pipe/orders')
  const { intent } = await world.record('Pipe/orders')
  await world.clock.advance(HOUR)
  const revision: { older: string | undefined } = { older: OLDER }
  const next = await given({}, { around: world.around, olderThan: () => revision.older })
  return { next, revision, intentId: intent?.id ?? '' }
}

test('an attempt of unknown outcome is not dismissed for what they say, and is once they are taken as they are', async () => {
  const { next, revision, intentId } = await withUnknown()
  next.write('orders.yaml', pipe('orders', { policy: { retryCreate: intentId } }))
  expect((await next.go('Pipe/orders')).action.reason).toBe('OutcomeUnknown')
  expect(await next.record('Pipe/orders')).toMatchObject({
    intent: { id: intentId, state: 'unknown' },
    conditions: { Synced: { reason: 'OutcomeUnknown' } },
  })
  expect(next.platform.posts).toHaveLength(1)
  revision.older = undefined
  expect((await next.go('Pipe/orders')).action.reason).toBe('New')
  expect(next.platform.posts).toHaveLength(2)
})

test('no pipe is adopted for what they say in the place of an attempt of unknown outcome', async () => {
  const { next, revision } = await withUnknown()
  const id = next.platform.make(SERVICE_ID, { name: 'orders', ...pipeBodyOf('orders') })
  next.write('orders.yaml', pipe('orders', { policy: { adopt: id } }))
  expect((await next.go('Pipe/orders')).action.reason).toBe('OutcomeUnknown')
  expect((await next.record('Pipe/orders')).remote).toBeUndefined()
  revision.older = undefined
  await next.go('Pipe/orders')
  expect((await next.record('Pipe/orders')).remote?.id).toBe(id)
  expect(next.platform.posts).toHaveLength(1)
})

test('what they lack is not said to be in sync, and is an orphan once they are taken as they are', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await world.go('Pipe/orders')
  await world.go('Pipe/orders')
  world.around.directory.files.delete('orders.yaml')
  const revision: { older: string | undefined } = { older: OLDER }
  const next = await given({}, { around: world.around, olderThan: () => revision.older })
  next.readAgain()
  await next.go('Pipe/orders')
  expect(next.board.get('Pipe/orders')).toMatchObject({ status: 'Progressing', reason: 'ManifestVanishing' })
  expect(conditionMessage((await next.conditions('Pipe/orders')).Synced, 'Pipe/orders')).toContain(
    `acted on revision ${OLDER}`,
  )
  const { message } = await forgetKey(next.context, 'Pipe/orders')
  expect(message).toContain(`another process acted on revision ${OLDER}`)
  revision.older = undefined
  await next.go('Pipe/orders')
  expect(next.board.get('Pipe/orders')).toMatchObject({ status: 'Orphaned' })
  revision.older = 'r3'
  await next.go('Pipe/orders')
  expect(next.board.get('Pipe/orders')).toMatchObject({ status: 'Orphaned' })
})
