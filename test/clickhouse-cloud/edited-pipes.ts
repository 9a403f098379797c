import type { Json, JsonObject } from '../../src/lib/json.ts'
import { startClient, told, type Client } from './client.ts'
import { withAt } from './edits.ts'
import { givenNamed, wireBody } from './given.ts'
import { at, textOf } from './look.ts'
import { manifestOf } from './reach.ts'
import { withRefs } from './refs.ts'

/* Pipes that are edited in the course of time, by a client in this process: what the tests of it have in common. */

export const KAFKA = wireBody(givenNamed('orders'))
export const POSTGRES = wireBody(givenNamed('customers'))
export const FILES = wireBody(givenNamed('sessions'))

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

/** The body with other values at dotted paths; null: without it. */
export function having(body: JsonObject, fields: Readonly<Record<string, Json>>): JsonObject {
  return Object.entries(fields).reduce(
    (now, [path, value]) => withAt(now, path.split('.'), value ?? undefined) as JsonObject, // the root of a body is one
    body,
  )
}

export const REPLICAS = having(KAFKA, { 'scaling.replicas': 3 })
export const MAPPINGS = 'source.postgres.tableMappings'

function table(name: string): JsonObject {
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

/** Reconciles as often as the queue would, for so long. */
export async function during(client: Client, ms: number): Promise<void> {
  let left = ms
  while (left > 0) {
    const { next } = await client.reconcile()
    const wait = Math.min(left, Math.max(250, next?.afterMs ?? left))
    client.skip(wait)
    left -= wait
  }
  await client.reconcile()
}

/** Somebody else edits the pipe. */
export function byHand(client: Client, fields: Readonly<Record<string, Json>>): void {
  client.server.setBody(client.id(), having(client.body() ?? {}, fields))
}

/** A manifest of another pipe. */
export function pipeOf(name: string, body: JsonObject, policy: object = {}): JsonObject {
  return { ...manifestOf('Pipe', name, { spec: withRefs(body).spec }), policy: { ...policy } }
}

export function lockOf(pipes: Readonly<Record<string, string>>): JsonObject {
  return { apiVersion: 'pipewright/v1', kind: 'Lock', metadata: { name: 'all' }, spec: { pipes } }
}
