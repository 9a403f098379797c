import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/lib/json.ts'
import { startClient, type Client } from './client.ts'
import { KAFKA, MINUTE } from './edited-pipes.ts'
import { at } from './look.ts'
import { byHand, has, story } from './story.ts'

/*
 * The size of a new pipe (facts 8): a create does not always take it, so that it is sent after it. What a person makes of it from then on is
 * theirs.
 */

/** A pipe that was created this moment, and not read since; the create left its size out. */
async function startNew(size: Json = { replicas: 1 }): Promise<Client> {
  // With this seed, a reply does not fill in a size.
  const client = await startClient(KAFKA, { seed: 'small' })
  const before = client.id()
  client.server.setStates(before, 'gone')
  for (let count = 0; count < 60 && client.id() === before; count += 1) {
    client.skip(MINUTE)
    await client.reconcile()
  }
  expect(client.id()).not.toBe(before)
  client.edit({ scaling: size })
  client.changes()
  return client
}

const looks = (count: number) => Array.from({ length: count }, () => '1 min; turn').join('; ')
const isOf = (replicas: number) => has({ scaling: { replicas } })
const BY_HAND = byHand({ 'scaling.replicas': 5 })

describe('the size of a new pipe', () => {
  test('that its create did not take is sent after it', () =>
    story(startNew(), 'for 10 min; sends PATCH /scaling; is InSync', isOf(2)))

  test('that is not shown at first, and then is another one, is sent', () =>
    story(
      startNew(null),
      `${looks(3)}; sends nothing; is InSync`,
      byHand({ scaling: { replicas: 1 } }),
      'for 10 min; sends PATCH /scaling; is InSync',
      isOf(2),
    ))

  test('is a person’s to change once a reading has shown it as asked for, also after a restart', () =>
    story(
      startClient(KAFKA),
      BY_HAND,
      `${looks(2)}; restart; ${looks(2)}; sends nothing; is Drifted`,
      isOf(5),
    ))

  test('is a person’s to change once it was sent after the create', () =>
    story(
      startNew(),
      'settle; sends PATCH /scaling',
      isOf(2),
      BY_HAND,
      `${looks(3)}; sends nothing; is Drifted`,
      isOf(5),
    ))

  test('is a person’s to change also where something else differs at the time', () =>
    story(
      startNew(at(KAFKA, 'scaling')),
      byHand({ 'settings.streaming_max_insert_wait_ms': 1500 }),
      looks(1),
      BY_HAND,
      `${looks(3)}; sends nothing; is Drifted`,
      isOf(5),
    ))

  test('is changed back where policy.onDrift says so', () =>
    story(startClient(KAFKA), 'want it onDrift=correct', BY_HAND, 'for 5 min; sends PATCH /scaling', isOf(2)))
})
