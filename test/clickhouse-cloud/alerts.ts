import type { JsonObject } from '../../src/lib/json.ts'
import { startEmpty, type Client } from './client.ts'
import { textOf } from './look.ts'
import { play, type Step } from './story.ts'

/* Alerts that are created. */

export const WEBHOOK = { type: 'webhook', webhookId: '66d0f1a2b3c4d5e6f7a8b9aa' } as const

export const SPEC = {
  name: 'Lag',
  source: 'saved_search',
  savedSearchId: '66d0f1a2b3c4d5e6f7a8b9d0',
  threshold: 10,
  thresholdType: 'above',
  interval: '5m',
  channel: WEBHOOK,
} as const satisfies JsonObject

export function empty(options: Parameters<typeof startEmpty>[1] = {}): Promise<Client> {
  return startEmpty('Alert', options, { idempotentRetries: 0 })
}

/** One that is there, and in sync. */
export async function started(spec: JsonObject = SPEC, options = {}): Promise<Client> {
  const client = await empty(options)
  await client.want(spec)
  await client.settle()
  client.changes()
  return client
}

/** Somebody else makes one in the service. @param steps what comes then, by its id */
export function made(fields: JsonObject, steps: (id: string) => readonly Step[]): Step {
  return async (client) => {
    const { result } = client.ask('POST', '/clickstack/alerts', { ...SPEC, ...fields })
    client.changes()
    await play(client, ...steps(textOf((result as JsonObject)['id'])))
  }
}
