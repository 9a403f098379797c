import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/lib/json.ts'
import { having, startClient, type Client } from './client.ts'
import { during, KAFKA, MINUTE, passes, sent } from './edited-pipes.ts'
import { at } from './look.ts'

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

function replicas(client: Client): Json | undefined {
  return at(client.body() ?? {}, 'scaling.replicas')
}

describe('the size of a new pipe', () => {
  test('that its create did not take is sent after it', async () => {
    await using client = await startNew()
    await during(client, 10 * MINUTE)
    expect([sent(client), replicas(client), client.reason()]).toEqual([['PATCH /scaling'], 2, 'InSync'])
  })

  test('that is not shown at first, and then is another one, is sent', async () => {
    await using client = await startNew(null)
    await passes(client, 3, MINUTE)
    expect([sent(client), client.reason()]).toEqual([[], 'InSync'])
    client.edit({ scaling: { replicas: 1 } })
    await during(client, 10 * MINUTE)
    expect([sent(client), replicas(client), client.reason()]).toEqual([['PATCH /scaling'], 2, 'InSync'])
  })

  test('is a person’s to change once a reading has shown it as asked for, also after a restart', async () => {
    await using client = await startClient(KAFKA)
    client.edit({ 'scaling.replicas': 5 })
    await passes(client, 2, MINUTE)
    await client.restart()
    await passes(client, 2, MINUTE)
    expect([sent(client), replicas(client), client.reason()]).toEqual([[], 5, 'Drifted'])
  })

  test('is a person’s to change once it was sent after the create', async () => {
    await using client = await startNew()
    await client.settle()
    expect([sent(client), replicas(client)]).toEqual([['PATCH /scaling'], 2])
    client.edit({ 'scaling.replicas': 5 })
    await passes(client, 3, MINUTE)
    expect([sent(client), replicas(client), client.reason()]).toEqual([[], 5, 'Drifted'])
  })

  test('is a person’s to change also where something else differs at the time', async () => {
    await using client = await startNew(at(KAFKA, 'scaling'))
    client.edit({ 'settings.streaming_max_insert_wait_ms': 1500 })
    await passes(client, 1, MINUTE)
    client.edit({ 'scaling.replicas': 5 })
    await passes(client, 3, MINUTE)
    expect([sent(client), replicas(client), client.reason()]).toEqual([[], 5, 'Drifted'])
  })

  test('is changed back where policy.onDrift says so', async () => {
    await using client = await startClient(KAFKA)
    await client.want(having(KAFKA, {}), { onDrift: 'correct' })
    client.edit({ 'scaling.replicas': 5 })
    await during(client, 5 * MINUTE)
    expect([sent(client), replicas(client)]).toEqual([['PATCH /scaling'], 2])
  })
})
