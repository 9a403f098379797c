import { expect } from 'vitest'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { having, startClient, told, type Client } from './client.ts'
import { givenNamed, wireBody } from './given.ts'
import { at, textOf } from './look.ts'
import { manifestOf } from './reach.ts'
import { withRefs } from './refs.ts'

/* Pipes that are edited, deleted and replaced in the course of time, by a client in this process. */

export const KAFKA = wireBody(givenNamed('orders'))
export const POSTGRES = wireBody(givenNamed('customers'))
export const FILES = wireBody(givenNamed('sessions'))

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export const REPLICAS = having(KAFKA, { 'scaling.replicas': 3 })
export const MAPPINGS = 'source.postgres.tableMappings'

export function table(name: string): JsonObject {
  return { sourceSchemaName: 'public', sourceTable: name, targetTable: name }
}

/** A table more: the pipe has to rest for that. */
export function withTable(name: string, body = POSTGRES): JsonObject {
  return having(body, { [MAPPINGS]: [...tablesIn(body), table(name)] })
}

export function tablesIn(body: JsonObject | undefined): readonly JsonObject[] {
  return (at(body ?? {}, MAPPINGS) ?? []) as readonly JsonObject[] // by the schema
}

export function tableNames(client: Client): readonly string[] {
  return namesIn(client.body())
}

export function namesIn(body: JsonObject | undefined, name = 'sourceTable'): readonly string[] {
  return tablesIn(body)
    .map((mapping) => textOf(mapping[name]))
    .toSorted((a, b) => (a < b ? -1 : 1))
}

/** On its way there, or a first copy, is as good as running. */
export function stateOf(client: Client): string | undefined {
  const state = client.state()
  return state === 'Snapshot' || state === 'Setup' ? 'Running' : state
}

export const THREE_TABLES = ['addresses', 'customers', 'invoices']

/** A pipe that was made a while ago: the size of a new one is looked after more closely. */
export async function startOld(...args: Parameters<typeof startClient>): Promise<Client> {
  const client = await startClient(...args)
  client.skip(20 * MINUTE)
  await client.reconcile()
  return client
}

/** Requests that changed something, each as `PATCH /scaling`; a command with its name. */
export function sent(client: Client): readonly string[] {
  return client.changes().map((seen) => {
    const command = (seen.body as { readonly command?: string } | undefined)?.command
    return command === undefined ? told(seen) : command
  })
}

/** What was refused or not applied. */
export function faulty(client: Client) {
  return client.server.seen().filter(({ refused, dropped }) => refused.length + dropped.length > 0)
}

export async function passes(client: Client, count: number, ms = 5 * MINUTE): Promise<void> {
  for (let pass = 0; pass < count; pass += 1) {
    client.skip(ms)
    await client.reconcile()
  }
}

/** Reconciles as often as the queue would, for so long. @returns how often */
export async function during(client: Client, ms: number, isOver = () => false): Promise<number> {
  let left = ms
  let count = 1
  for (; left > 0 && !isOver(); count += 1) {
    const { next } = await client.reconcile()
    const wait = Math.min(left, Math.max(250, next?.afterMs ?? left))
    client.skip(wait)
    left -= wait
  }
  await client.reconcile()
  return count
}

/** The same, or until its record holds no pipe. */
export function untilGone(client: Client, ms: number): Promise<number> {
  return during(client, ms, () => client.record()?.remote === undefined)
}

export function pipeOf(name: string, body: JsonObject, policy: object = {}): JsonObject {
  return { ...manifestOf('Pipe', name, { spec: withRefs(body).spec }), policy: { ...policy } }
}

export function lockOf(pipes: Readonly<Record<string, string>>): JsonObject {
  return { apiVersion: 'pipewright/v1', kind: 'Lock', metadata: { name: 'all' }, spec: { pipes } }
}

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
