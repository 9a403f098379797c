import { describe, expect, test } from 'vitest'
import { keyOf } from '../../src/kinds/key.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { FILES, KAFKA, POSTGRES } from './edited-pipes.ts'
import { startClient, told, type Client } from './client.ts'
import { withRefs } from './refs.ts'

/* A pipe that is created with policy.paused. */

const KEY = keyOf('Pipe', 'second')

/** Reconciles until nothing more is sent. @returns the bodies that were sent */
async function create(client: Client, body: JsonObject, policy: JsonObject) {
  const { spec, secrets } = withRefs({ ...body, name: 'second' })
  for (const { name, key, text } of secrets) client.mounted.set(`${name}/${key}`, text)
  await client.put('second.json', {
    apiVersion: 'pipewright/v1',
    kind: 'Pipe',
    metadata: { name: 'second' },
    policy,
    spec: { service: 'analytics', ...spec },
  })
  const { action } = await client.reconcile(undefined, KEY)
  for (let look = 0; look < 6; look += 1) {
    client.skip(5_000)
    await client.reconcile(undefined, KEY)
  }
  const state = client.server.states().get(client.record(KEY)?.remote?.id ?? '')
  return { action, state, sent: client.changes() }
}

describe('a pipe that is created with policy.paused', () => {
  test.each([
    ['a stream', KAFKA],
    ['files', FILES],
  ])('true, %s: begins at rest, and nothing more is sent', async (_what, body) => {
    await using client = await startClient(POSTGRES)
    const { action, state, sent } = await create(client, body, { paused: true })
    expect(action).toMatchObject({ type: 'create', facts: { paused: 'from the start' } })
    expect([state, sent.map(told)]).toEqual(['Stopped', ['POST']])
    expect(sent[0]?.body).toMatchObject({ startPaused: true })
    expect(client.record(KEY)?.conditions).toMatchObject({
      Synced: { reason: 'InSync' },
      Ready: { status: 'True' },
    })
  })

  test('true, a database, which the service starts: it is stopped right after', async () => {
    await using client = await startClient(KAFKA)
    const { action, state, sent } = await create(client, POSTGRES, { paused: true })
    expect(action).toMatchObject({ type: 'create', facts: { paused: 'after the start' } })
    expect([state, sent.map(told)]).toEqual(['Paused', ['POST', 'PATCH /state']])
    expect(sent[0]?.body).not.toHaveProperty('startPaused')
  })

  test.each([{}, { paused: false }])('%j: runs', async (policy) => {
    await using client = await startClient(POSTGRES)
    const { action, state, sent } = await create(client, KAFKA, policy)
    expect(action.facts).toEqual({ is: 'created' })
    expect([state, sent.map(told)]).toEqual(['Running', ['POST']])
    expect(sent[0]?.body).not.toHaveProperty('startPaused')
  })
})
