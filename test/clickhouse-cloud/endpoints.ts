import { expect } from 'vitest'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { startEmpty, type Client } from './client.ts'
import type { Step } from './story.ts'

/* Query endpoints. */

const PATH = '/serviceQueryEndpoint'

export const KEY_A = '11111111-1111-4111-8111-111111111111'
export const KEY_B = '22222222-2222-4222-8222-222222222222'

export const SPEC = {
  roles: ['sql_console_read_only'],
  openApiKeys: [KEY_A],
  allowedOrigins: 'app.example.com',
}

export function empty(limits: Partial<PlatformOptions> = {}): Promise<Client> {
  return startEmpty('QueryEndpoint', {}, { idempotentRetries: 0, ...limits })
}

export async function applied(policy?: Policy): Promise<Client> {
  const client = await empty()
  await client.want(SPEC, policy)
  await client.reconcile()
  client.asked()
  return client
}

/** Somebody else sets the endpoint, or takes it away. */
export function set(body: JsonObject | undefined): Step {
  return (client) => {
    if (body === undefined) client.ask('DELETE', PATH)
    else client.ask('POST', PATH, body)
    client.asked()
  }
}

export function there(body: JsonObject | undefined): Step {
  return (client) => expect(client.body()).toEqual(body)
}
