import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import { having, type Client } from './client.ts'
import { KAFKA, MINUTE, POSTGRES, REPLICAS, sent, startOld, withTable } from './edited-pipes.ts'

/* A list can show pipes as they were. What it shows is confirmed by a GET by id before it is told or corrected. */

/** From now on every list shows this moment. */
async function freezeList(client: Client, change?: (item: JsonObject) => JsonObject): Promise<void> {
  const { result } = client.ask('GET', '/clickpipes')
  const items = result as readonly JsonObject[] // a list of pipes
  const listed: Json = change === undefined ? [...items] : items.map(change)
  client.interfere(({ method, below }) =>
    method === 'GET' && below === '…' ? { answered: listed } : undefined,
  )
}

/** Drift checks, each with a list of its own. */
async function inPassing(client: Client, count: number): Promise<void> {
  for (let pass = 0; pass < count; pass += 1) {
    client.skip(5 * MINUTE)
    await client.reconcile('in passing')
  }
}

describe('a list that lags behind', () => {
  test.each([
    { of: 'a host', body: POSTGRES, edited: having(POSTGRES, { 'source.postgres.host': 'other.example' }) },
    { of: 'a size', body: KAFKA, edited: REPLICAS },
    { of: 'a table, for which the pipe is stopped', body: POSTGRES, edited: withTable('more') },
  ])('does not send an edit of $of a second time', async ({ body, edited }) => {
    await using client = await startOld(body)
    await client.want(body, { onDrift: 'correct' })
    await client.settle()
    await freezeList(client)
    client.changes()
    await client.want(edited, { onDrift: 'correct' })
    await client.settle()
    expect(sent(client).length).toBeGreaterThan(0)
    await inPassing(client, 8)
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('InSync')
  })

  test.each(['correct', 'report'] as const)('tells no drift, with onDrift: %s', async (onDrift) => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { onDrift })
    await client.settle()
    await freezeList(client, (item) => ({ ...item, source: { kafka: { topics: 'listed' } } }))
    client.changes()
    await inPassing(client, 3)
    expect(sent(client)).toEqual([])
    expect(client.reason()).toBe('InSync')
    const told = client.events.filter((event) => event.type === 'Observed' && event.differences.length > 0)
    expect(told).toEqual([])
  })

  test.each([
    { paused: true, listed: 'Running' },
    { paused: false, listed: 'Stopped' },
  ])('starts and stops nothing, with paused: $paused', async ({ paused, listed }) => {
    await using client = await startOld(KAFKA)
    await client.want(KAFKA, { paused })
    await client.settle()
    client.skip(2 * MINUTE)
    await client.settle()
    await freezeList(client, (item) => ({ ...item, state: listed }))
    client.changes()
    await inPassing(client, 3)
    expect(sent(client)).toEqual([])
  })
})

/** From now on, a GET by id shows this moment with another state. */
function showState(client: Client, listed: string | undefined, shown: string): void {
  const [item] = client.ask('GET', '/clickpipes').result as readonly JsonObject[] // a list of pipes
  const { state: _, ...rest } = item ?? {}
  client.interfere(({ method, below }) => {
    if (method !== 'GET') return undefined
    if (below !== '…') return { answered: { ...rest, state: shown } }
    return { answered: [listed === undefined ? rest : { ...rest, state: listed }] }
  })
}

test.each([
  { listed: undefined, shown: 'Failed', status: 'NotReady' },
  { listed: undefined, shown: 'Running', status: 'Ready' },
  { listed: 'Failed', shown: 'Running', status: 'Ready' },
  { listed: 'Deleting', shown: 'Deleting', status: 'NotReady' },
])('a pipe that is listed as $listed and read as $shown is $status', async ({ listed, shown, status }) => {
  await using client = await startOld(KAFKA)
  await client.want(KAFKA, { healthyStates: ['Running', 'Deleting'] })
  await client.settle()
  showState(client, listed, shown)
  await inPassing(client, 1)
  expect(client.status()).toBe(status)
})
