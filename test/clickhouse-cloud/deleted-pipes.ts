import { expect } from 'vitest'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { startClient, type Client } from './client.ts'
import { having, KAFKA, MINUTE } from './edited-pipes.ts'

/* Pipes that are deleted and replaced in the course of time: what the tests of it have in common. */

/** More than the clocks of two processes differ by. */
export const GRACE = 10 * MINUTE + 1_000
export const DELETE: Policy = { ensure: 'absent' }
export const REPLACE: Policy = { onImmutable: 'replace' }

/** No request changes the topics of a pipe that exists. */
export function withTopics(topics: string): JsonObject {
  return having(KAFKA, { 'source.kafka.topics': topics })
}

export const OTHER_TOPIC = withTopics('orders.v2')

/** A pipe that it made, with this policy, seen in sync more than once. */
export async function started(body: JsonObject, policy: Policy): Promise<Client> {
  const client = await startClient(body)
  await client.want(body, policy)
  await client.reconcile()
  client.skip(20 * MINUTE)
  await client.reconcile('in passing')
  client.changes()
  return client
}

/** The same, and its manifest asks to delete it since. */
export async function unwanted(body: JsonObject = KAFKA): Promise<Client> {
  const client = await started(body, {})
  await client.want(body, DELETE)
  await client.reconcile()
  return client
}

/** The same, and its manifest asks for another one since. */
export async function replaced(body: JsonObject = OTHER_TOPIC, policy = REPLACE): Promise<Client> {
  const client = await started(KAFKA, policy)
  await client.want(body, policy)
  await client.reconcile()
  expect(client.reason()).toBe('Deleting')
  return client
}

/** As the queue does, for so long, or until its record holds no pipe. @returns how often it was reconciled */
export async function goesOn(client: Client, ms: number): Promise<number> {
  let left = ms
  let count = 0
  for (; left > 0 && client.record()?.remote !== undefined; count += 1) {
    const { next } = await client.reconcile()
    const wait = Math.min(left, Math.max(250, next?.afterMs ?? left))
    client.skip(wait)
    left -= wait
  }
  if (client.record() !== undefined) await client.reconcile()
  return count
}
