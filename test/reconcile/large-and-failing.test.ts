import { viewMessage } from '../support/messages.ts'
import { expect, test, vi } from 'vitest'
import { encodeRecord } from '../../src/ledger/codec.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { given, MINUTE } from './given.ts'
import { pipe } from './manifests.ts'

test('a console edit of 1,500 columns is shown, and fits the record', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await world.go('Pipe/orders')
  await world.clock.advance(MINUTE)
  const columns = Array.from({ length: 1_500 }, (_, i) => ({ name: `column_${i}`, type: 'String' }))
  for (const made of world.platform.pipes.values())
    made.body = { ...made.body, destination: { database: 'default', table: 'events', columns } }
  await world.clock.advance(6 * MINUTE)
  const { action } = await world.go('Pipe/orders')
  expect(action).toMatchObject({ type: 'report', reason: 'Drifted' })
  expect(viewMessage(world.board.get('Pipe/orders'))).toContain(
    'destination.columns[column_0], destination.columns[column_1000], ',
  )
  expect(viewMessage(world.board.get('Pipe/orders'))).toContain(', and 1492 more. Change them back')
  expect(encodeRecord(await world.record('Pipe/orders')).body.length).toBeLessThan(8_000)
})

test('a reconcile that throws is shown as failed until one succeeds, without secrets', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await world.go('Pipe/orders')
  expect(world.board.get('Pipe/orders')).toMatchObject({ status: 'Ready', reason: 'InSync' })
  Object.assign(world.context, { mask: createSecretMask(['hunter2-hunter2']) })
  const read = vi.spyOn(world.platform, 'read').mockRejectedValue(new Error('an odd reply: hunter2-hunter2'))
  await world.clock.advance(6 * MINUTE)
  await expect(world.go('Pipe/orders')).rejects.toThrow('an odd reply')
  expect(world.board.get('Pipe/orders')).toMatchObject({
    status: 'Failed',
    reason: 'Unavailable',
    because: { facts: { said: 'The reconcile failed unexpectedly: an odd reply: [secret]' } },
    conditions: { Synced: { status: 'Unknown' } },
  })
  read.mockRestore()
  await world.go('Pipe/orders')
  expect(world.board.get('Pipe/orders')).toMatchObject({ status: 'Ready', reason: 'InSync' })
})
