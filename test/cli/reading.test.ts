import { expect, test } from 'vitest'
import { readLedgerStatus } from '../../src/cli/reading.ts'
import { shownResource } from '../../src/server/shown-resource.ts'
import { given } from '../reconcile/given.ts'
import { pipe } from '../reconcile/manifests.ts'

test('a status that is read from the ledger is that of the board, without an action', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  await world.go('Pipe/orders')
  const { resources } = await readLedgerStatus(world.ledger, {}, world.clock)
  const view = world.board.get('Pipe/orders')
  const { key, status, reason, message, since, pipeId, conditions } = view ? shownResource(view, {}) : {}
  expect(resources).toMatchObject([{ key, status, reason, message, since, pipeId, conditions }])
  expect(resources[0]?.action).toBeUndefined()
})
