import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from '../../src/lib/json.ts'
import { givenNamed, wireBody } from './given.ts'
import { textOf } from './look.ts'
import { startStrictServer, type StrictHttp } from './strict-http.ts'
import type { StrictServer } from './strict-server.ts'

/* The strict server itself: what of a request it refuses before it looks at a body, and how it says so. */

const ORGANIZATION = '6b7e2f0c-41d5-4c39-8e0a-9f1d3c5b7a62'
const SERVICE_ID = 'c8d14a7e-93f2-4b06-a5e1-2d70b9f4e381'
const BASE = `/v1/organizations/${ORGANIZATION}/services/${SERVICE_ID}`
const ALERT = '66d0f1a2b3c4d5e6f7a8b9c2'
const BODY = JSON.stringify(wireBody(givenNamed('clicks')))

interface Sent {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly body?: string
  readonly login?: string
  readonly type?: string
}

let server: StrictServer & StrictHttp

beforeAll(async () => {
  server = await startStrictServer({
    seed: 'requests',
    key: { keyId: 'key-1', keySecret: 'se:cret' },
    service: { organizationId: ORGANIZATION, serviceId: SERVICE_ID },
    alerts: [{ id: ALERT, state: 'OK', name: null }],
    hyperdx: { token: 'token-1', alerts: [{ id: ALERT, state: 'OK' }] },
  })
})

afterAll(() => server[Symbol.asyncDispose]())

async function ask({
  method = 'GET',
  path,
  body,
  login = basic('key-1:se:cret'),
  type = 'application/json',
}: Sent) {
  const headers = { authorization: login, ...(body === undefined ? {} : { 'content-type': type }) }
  const reply = await request(`${server.url}${path}`, { method, headers, body: body ?? null })
  const text = await reply.body.text()
  return { status: reply.statusCode, said: text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {} }
}

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

const PIPES = `${BASE}/clickpipes`
const ENDPOINT = `${BASE}/serviceQueryEndpoint`
const OTHER = '11111111-2222-4333-8444-555555555555'

describe('refused', () => {
  test.each<readonly [why: string, status: number, sent: Sent]>([
    ['no login', 401, { path: PIPES, login: '' }],
    ['another key', 401, { path: PIPES, login: basic('key-1:other') }],
    ['a bearer token', 401, { path: PIPES, login: 'Bearer token-1' }],
    ['an id that is none', 400, { path: `${PIPES}/schemaDiscovery` }],
    ['an alert by a UUID', 400, { path: `${BASE}/clickstack/alerts/${OTHER}` }],
    [
      'a service by its name',
      400,
      { path: `/v1/organizations/${ORGANIZATION}/services/warehouse/clickpipes` },
    ],
    ['another service', 404, { path: `/v1/organizations/${ORGANIZATION}/services/${OTHER}/clickpipes` }],
    ['another pipe', 404, { path: `${PIPES}/${OTHER}` }],
    ['no endpoint', 404, { path: ENDPOINT }],
    ['the path of another service', 404, { path: `${BASE}/pipes` }],
    ['a slash at the end of a list', 404, { path: `${PIPES}/` }],
    ['a query', 400, { path: `${PIPES}?limit=1` }],
    ['a body of a GET', 400, { path: PIPES, body: '{}' }],
    ['a method that is not there', 404, { method: 'PUT', path: PIPES, body: BODY }],
    ['another type', 400, { method: 'POST', path: PIPES, body: BODY, type: 'text/plain' }],
    ['no JSON', 400, { method: 'POST', path: PIPES, body: BODY.slice(1) }],
    ['something after it', 400, { method: 'POST', path: PIPES, body: `${BODY}{}` }],
    ['a mark before it', 400, { method: 'POST', path: PIPES, body: `\uFEFF${BODY}` }],
    ['a list', 400, { method: 'POST', path: PIPES, body: '[]' }],
    ['nothing', 400, { method: 'POST', path: PIPES, body: '{}' }],
    [
      'an endpoint without keys',
      400,
      { method: 'POST', path: ENDPOINT, body: '{"roles":[],"allowedOrigins":""}' },
    ],
    ['HyperDX with the key of the service', 401, { path: `/api/v2/alerts/${ALERT}` }],
  ])('%s', async (_why, status, sent) => {
    const before = server.seen().length
    const got = await ask(sent)
    const [seen] = server.seen().slice(before)
    expect(got.status).toBe(status)
    expect(seen).toMatchObject({ status, path: sent.path })
    expect(seen?.refused.length).toBeGreaterThan(0)
  })

  test('with the words of the service, and the place in the body', async () => {
    const body = JSON.stringify({ ...wireBody(givenNamed('clicks')), label: 'a' })
    const got = await ask({ method: 'POST', path: PIPES, body })
    expect(got).toEqual({
      status: 400,
      said: { status: 400, error: 'BAD_REQUEST: label: unknown field', requestId: expect.any(String) },
    })
  })
})

describe('taken', () => {
  test('a pipe, which is there from then on, with a slash or without', async () => {
    const made = await ask({
      method: 'POST',
      path: `${PIPES}/`,
      body: BODY,
      type: 'application/json; charset=utf-8',
    })
    const { result } = made.said
    const id = isObject(result) ? result['id'] : undefined
    expect(made).toMatchObject({
      status: 200,
      said: { status: 200, result: { name: 'clicks', state: 'Provisioning' } },
    })
    const read = await ask({ path: `${PIPES}/${textOf(id)}` })
    const listed = await ask({ path: PIPES })
    expect(read).toMatchObject({ status: 200, said: { result: { id, state: 'Running' } } })
    expect(listed).toMatchObject({ status: 200, said: { result: [{ id }] } })
    expect(JSON.stringify([made, read, listed])).not.toContain('planted-text')
  })

  test('an alert of the service, and the same of HyperDX', async () => {
    expect(await ask({ path: `${BASE}/clickstack/alerts/${ALERT}` })).toMatchObject({
      status: 200,
      said: { result: { id: ALERT, state: 'OK' } },
    })
    expect(await ask({ path: `/api/v2/alerts/${ALERT}`, login: 'Bearer token-1' })).toMatchObject({
      status: 200,
      said: { data: { id: ALERT } },
    })
  })
})
