import { describe, expect, test } from 'vitest'
import { viewMessage } from '../support/messages.ts'
import { adoptAs } from '../../src/reconcile/operator/adopt.ts'
import type { Given } from './given.ts'
import { endpoint, lock } from './manifests.ts'
import { idOf, play, story, worldAfter } from './story.ts'

/* The secrets of an adopted pipe whose interface cannot update them. */

const ORDERS = 'Pipe/orders'
const UNMOUNTED = 'make orders; unmount kafka/password'
const MOUNT = 'mount kafka/password=first'
const LOOK = '5 min; look orders'
const IN_SYNC = 'shown orders: Ready; shown orders: InSync'
const ROTATED = 'shown orders: Drifted; shown orders: SecretRotated'
const ADOPTED_BEFORE = `${UNMOUNTED}; write orders adopt=#1; look orders; ${MOUNT}; ${LOOK}`

function message(world: Given): string {
  return viewMessage(world.board.get(ORDERS))
}

describe('a pipe that was adopted before its secret was mounted', () => {
  test.each(['policy.adopt', 'a Lock'])(
    'by %s: says from the adoption on that credentials are not verified',
    async (by) => {
      const world = await worldAfter(UNMOUNTED)
      const [id = ''] = world.platform.pipes.keys()
      if (by === 'a Lock') world.write('lock.yaml', lock({ [ORDERS]: id }))
      await play(world, by === 'a Lock' ? 'write orders' : 'write orders adopt=#1')
      for (let turn = 0; turn < 2; turn += 1)
        await play(world, 'look orders; shown orders: Refused; shown orders: SecretUnavailable')
      expect(message(world)).toContain('Credentials not verified')
      expect(message(world)).toContain('/secrets/kafka/password')
      expect((await world.conditions(ORDERS)).Ready.status).toBe('True')
      await play(world, `${MOUNT}; ${LOOK}; ${ROTATED}`)
      expect(message(world)).toContain('Credentials not verified')
      expect(message(world)).toContain('source.kafka.credentials.password')
    },
  )

  test('stays so after a restart, and is not confirmed by an edit that the platform has already', () =>
    story(
      `${ADOPTED_BEFORE}; edit #1 replicas=2; write orders replicas=2 adopt=#1; restart; look orders: InSync accepted; ${ROTATED};
      ${LOOK}; ${ROTATED}`,
    ))

  test('is in sync once an operator says so; a rotation after that is noticed', async () => {
    const world = await worldAfter(`${ADOPTED_BEFORE}; ${ROTATED}`)
    const asked = { key: ORDERS, pipeId: await idOf(world, ORDERS), command: 'adopt' } as const
    expect((await adoptAs(world.context, asked, new AbortController().signal)).result).toBe('done')
    await play(world, `${LOOK}; ${IN_SYNC}; mount kafka/password=second; ${LOOK}; ${ROTATED}`)
    expect(message(world)).not.toContain('not verified')
    expect(world.platform.posts).toEqual([])
  })
})

test('a pipe that was adopted with its secret mounted is in sync, and a rotation is noticed', () =>
  story(
    `make orders; write orders adopt=#1; look orders; ${LOOK}; ${IN_SYNC}; mount kafka/password=second; ${LOOK}; ${ROTATED}`,
  ))

test('a pipe that was created stays in sync if its secret is unmounted', async () => {
  const world = await worldAfter('write orders; look orders')
  world.write('q.yaml', endpoint('q'))
  const q = 'look QueryEndpoint/q'
  await play(world, `${q}; unmount kafka/password; ${LOOK}; ${q}; ${IN_SYNC}; shown QueryEndpoint/q: Ready`)
})
