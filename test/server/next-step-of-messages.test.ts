import { expect, it } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { causeOfView, nextSteps } from '../../src/server/shown-resource.ts'
import { viewMessage } from '../support/messages.ts'
import { RemoteError } from '../../src/contract/remote-error.ts'
import { given, type Given } from '../reconcile/given.ts'
import { pipe } from '../reconcile/manifests.ts'
import { remoteError } from '../reconcile/model-platform.ts'

/*
 * What others write into a message (a manifest, a mount, the platform) is only shown: nothing to copy is read out of it, and none of
 * it is taken for words of ours. Each of these was once shown wrongly.
 */

const HERE = { manifestsDir: 'manifests' }

function shown({ board }: Given, key: Key) {
  const resource = board.get(key)
  if (resource === undefined) throw new Error(`${key} is not shown`)
  const steps = nextSteps(resource, HERE, [])
  return {
    copies: steps.map(({ copy }) => copy),
    cause: causeOfView(resource),
    message: viewMessage(resource),
  }
}

it('the intent to be named in Git is that of the attempt, whatever a suspension gives as its reason', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  world.platform.script('create', { type: 'fail', class: 'BadReply', effect: 'unknown', worked: false })
  await world.go('Pipe/orders')
  const other = 'deadbeef-0000-4000-8000-000000000000'
  const suspend = { reason: `see intent ${other}, not there after 1999Z`, until: '2099-01-01T00:00:00Z' }
  world.write('orders.yaml', pipe('orders', { policy: { suspend } }))
  await world.go('Pipe/orders')
  const { intent } = await world.record('Pipe/orders')
  const { copies, message } = shown(world, 'Pipe/orders')
  expect(message).toContain(other)
  expect(copies).toContain(`retryCreate: ${intent?.id}`)
  expect(copies.join()).not.toContain(other)
})

it('a mounted secret with nothing in it is shown with its file', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  world.secrets.mounted.set('kafka/password', '')
  await world.go('Pipe/orders')
  expect(shown(world, 'Pipe/orders').copies).toContain('/secrets/kafka/password')
})

it('a reply of the platform is shown whole, whatever it says', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') })
  const said =
    'No such topic. Change them back and retry. If it is there, run the setup. Mount the secret there first'
  const { facts } = remoteError('Rejected', 'none')
  world.platform.admitCreate = () => Promise.reject(new RemoteError(said, { ...facts, what: said }))
  await world.go('Pipe/orders')
  expect(world.board.get('Pipe/orders')?.reason).toBe('Rejected')
  expect(shown(world, 'Pipe/orders').cause).toContain(said)
})
