import { isObject, type Json } from '../../src/lib/json.ts'
import { textOf } from './look.ts'
import { createStrictServer, type StrictOptions } from './strict-server.ts'

/* Requests made by hand, to a server of its own for each test. */

export const ORGANIZATION = '6b7e2f0c-41d5-4c39-8e0a-9f1d3c5b7a62'
export const SERVICE_ID = 'c8d14a7e-93f2-4b06-a5e1-2d70b9f4e381'
export const BASE = `/v1/organizations/${ORGANIZATION}/services/${SERVICE_ID}`
export const TOKEN = 'token-1'

export const OPTIONS: StrictOptions = {
  seed: 'asker',
  key: { keyId: 'key-1', keySecret: 'se:cret' },
  service: { organizationId: ORGANIZATION, serviceId: SERVICE_ID },
  alerts: [],
  hyperdx: { token: TOKEN, alerts: [] },
}

export interface Said {
  readonly status: number
  readonly result: Json | undefined
  readonly error: string
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export function startAsker(more: Partial<StrictOptions> = {}) {
  const server = createStrictServer({ ...OPTIONS, ...more })
  return {
    server,
    /** A request below the service, or below `/api/v2` with the login of HyperDX. */
    ask(method: Method, path: string, body?: Json): Said {
      const isHyperdx = path.startsWith('/api/v2')
      const login = isHyperdx ? `Bearer ${TOKEN}` : `Basic ${Buffer.from('key-1:se:cret').toString('base64')}`
      const { status, text } = server.answer({
        method,
        path: `${isHyperdx ? '' : BASE}${path}`,
        headers: {
          authorization: login,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        content: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      })
      const said: unknown = text.startsWith('{') ? JSON.parse(text) : {}
      const told = isObject(said) ? said : {}
      return {
        status,
        result: told['result'] ?? told['data'],
        error: textOf(told['error'] ?? told['message']),
      }
    },
  }
}
