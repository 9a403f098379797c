import { request } from 'undici'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { ALERT, ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'

export const PIPES = `/v1/organizations/${ORGANIZATION}/services/${SERVICE_ID}/pipes`
export const ENDPOINT = `/v1/organizations/${ORGANIZATION}/services/${SERVICE_ID}/serviceQueryEndpoint`
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** With a colon in the secret: only the first one separates. */
export const KEY = { keyId: 'key-1', keySecret: 'se:cret' }
export const TOKEN = 'token-1'
export const BASIC = `Basic ${Buffer.from(`${KEY.keyId}:${KEY.keySecret}`).toString('base64')}`

/** A body that uses what is held back, and everything needed to be accepted. */
export const ORDERS = {
  name: 'orders',
  source: {
    validateSamples: true,
    kafka: {
      brokers: 'b-1.example:9092',
      topics: 'orders',
      schemaRegistry: { url: 'https://r.example', credentials: { username: 'u1', password: 'p1' } },
      credentials: { username: 'u2', password: 'p2' },
    },
  },
  destination: { database: 'shop', table: 'orders', columns: [{ name: 'id', type: 'UInt64' }], roles: ['w'] },
  fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
  scaling: { replicas: 2 },
  settings: { db_max_threads: 4 },
}

/** A sandbox with one key, one token and one alert. */
export function givenSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return createSandbox({ credentials: [KEY], alertTokens: [TOKEN], fixture: { alerts: [ALERT] }, ...options })
}

export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  // tests look into replies freely; vitest says what is missing
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export interface Sent {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is when a string. */
  readonly body?: unknown
}

/** One request with the right credentials, unless told otherwise, on a connection of its own. */
export async function ask(sandbox: { readonly url: string }, path: string, sent: Sent = {}): Promise<Got> {
  const authorization = path.startsWith('/api/') ? `Bearer ${TOKEN}` : BASIC
  const reply = await request(`${sandbox.url}${path}`, {
    method: sent.method ?? (sent.body === undefined ? 'GET' : 'POST'),
    headers: { authorization, 'content-type': 'application/json', ...sent.headers },
    ...(sent.body === undefined
      ? {}
      : { body: typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body) }),
    reset: true,
  })
  const text = await reply.body.text()
  return { status: reply.statusCode, headers: reply.headers, body: parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
