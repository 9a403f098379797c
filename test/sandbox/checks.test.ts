import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/sandbox-server.ts'
import { ask, ENDPOINT, givenSandbox, ORDERS, PIPES, type Sent, UUID } from './given.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'

const OTHER = '11111111-2222-4333-8444-555555555555'
const kafka = ORDERS.source.kafka
const json = (value: unknown) => JSON.stringify(value)

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await givenSandbox({
    // A pipe shows its state by the time: it stands still.
    now: () => 0,
    fixture: {
      services: [{ organizationId: ORGANIZATION, serviceId: SERVICE_ID }],
      pipes: [{ ...ORDERS, id: OTHER, organizationId: ORGANIZATION, serviceId: SERVICE_ID }],
    },
  })
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const ALERT_PATH = '/api/v2/alerts/alert-1'

const BAD_LOGINS: readonly (readonly [why: string, path: string, authorization: string, error: RegExp])[] = [
  ['no credentials', PIPES, '', /wrong credentials/],
  ['a wrong secret', PIPES, `Basic ${btoa('key-1:other')}`, /wrong/],
  ['a secret cut at its colon', PIPES, `Basic ${btoa('key-1:se')}`, /wrong/],
  ['the right pair, not encoded', PIPES, 'Basic key-1:se:cret', /wrong/],
  ['the right pair under the other scheme', PIPES, `Bearer ${btoa('key-1:se:cret')}`, /wrong/],
  ['the right token under the other scheme', ALERT_PATH, 'Basic token-1', /wrong/],
  ['the alert token for a pipe', `${PIPES}/${OTHER}`, 'Bearer token-1', /Basic/],
  ['the API key for an alert', ALERT_PATH, `Basic ${btoa('key-1:se:cret')}`, /Bearer/],
  ['a wrong token', ALERT_PATH, 'Bearer token-2', /wrong/],
]

type Refused = readonly [why: string, status: number, path: string, sent: Sent, error: RegExp]

const REFUSED: readonly Refused[] = [
  // where to
  ['an unknown pipe', 404, `${PIPES}/11111111-2222-4333-8444-000000000000`, {}, /no such pipe/],
  ['a pipe of another service', 404, `${PIPES.replace(SERVICE_ID, OTHER)}/${OTHER}`, {}, /no such service/],
  ['an unknown service', 404, PIPES.replace(SERVICE_ID, OTHER), { body: ORDERS }, /no such service/],
  ['an unknown organization', 404, ENDPOINT.replace(ORGANIZATION, OTHER), { body: {} }, /no such service/],
  ['an unknown alert', 404, '/api/v2/alerts/none', {}, /no such alert/],
  ['an id that is no UUID', 400, `${PIPES}/orders`, {}, /pipeId: must be a UUID/],
  ['a path of no operation', 404, '/v1/pipes', {}, /no such path/],
  ['a list of pipes, which the interface does not have', 404, PIPES, {}, /no such path/],
  // what
  [
    'another content type',
    400,
    PIPES,
    { body: ORDERS, headers: { 'content-type': 'text/plain' } },
    /Content-Type/,
  ],
  ['a content type that is none', 400, PIPES, { body: ORDERS, headers: { 'content-type': 'json' } }, /./],
  ['no body', 400, PIPES, { method: 'POST' }, /JSON object/],
  ['a role that is none', 400, ENDPOINT, { body: { roles: ['admin'] } }, /roles\.0/],
  ['origins as a list', 400, ENDPOINT, { body: { allowedOrigins: ['a.example'] } }, /allowedOrigins/],
  ['an unknown field of an endpoint', 400, ENDPOINT, { body: { origins: '*' } }, /unknown field origins/],
  ['more than four megabytes', 413, PIPES, { body: json({ name: 'x'.repeat(5 * 2 ** 20) }) }, /large/],
]

/** Bodies of a create, each refused with 400. */
const BAD_BODIES: readonly (readonly [why: string, body: unknown, error: RegExp])[] = [
  ['no JSON', '{"name":', /JSON object/],
  ['JSON that is no object', '[]', /JSON object/],
  ['an unknown field', { ...ORDERS, replicas: 2 }, /unknown field replicas/],
  [
    'an unknown field far down',
    { ...ORDERS, source: { kafka: { ...kafka, broker: 'x' } } },
    /source\.kafka: unknown field broker/,
  ],
  ['what only manifests have', { ...ORDERS, service: 'x' }, /unknown field service/],
  [
    'a reference where a secret belongs',
    {
      ...ORDERS,
      source: { kafka: { credentials: { password: { secretRef: { name: 'a', key: 'b' } } } } },
    },
    /password: .*string/,
  ],
  [
    'a reference where a text may stand',
    { ...ORDERS, source: { kafka: { caCertificate: { secretRef: { name: 'a', key: 'b' } } } } },
    /caCertificate: .*string/,
  ],
  ['a wrong type', { ...ORDERS, scaling: { replicas: '2' } }, /scaling\.replicas/],
  ['half a replica', { ...ORDERS, scaling: { replicas: 1.5 } }, /scaling\.replicas/],
  ['null', { ...ORDERS, scaling: null }, /scaling/],
  ['no name', { source: ORDERS.source }, /name/],
  ['no source', { name: 'x' }, /source/],
  ['no source kind', { name: 'x', source: { validateSamples: true } }, /source: .* no kind/],
  [
    'two source kinds',
    { ...ORDERS, source: { kafka, postgres: { host: 'h' } } },
    /source\.postgres: .*kafka, postgres/,
  ],
  ['a column without a mapping', { ...ORDERS, fieldMappings: [] }, /fieldMappings: .*"id"/],
]

test.each<Refused>([
  ...BAD_LOGINS.map(([why, path, authorization, error]): Refused => {
    const body = path === PIPES ? { body: ORDERS } : {}
    return [why, 401, path, { ...body, headers: { authorization } }, error]
  }),
  ...REFUSED,
  ...BAD_BODIES.map(([why, body, error]): Refused => [why, 400, PIPES, { body }, error]),
])('refused: %s', async (_why, status, path, sent, error) => {
  const before = {
    pipes: sandbox.pipes(),
    endpoints: sandbox.endpoints(),
    requests: sandbox.requests().length,
  }
  const got = await ask(sandbox, path, sent)
  expect(got.status).toBe(status)
  expect(Object.keys(got.body).toSorted()).toEqual(['error', 'requestId', 'status'])
  expect(got.body.status).toBe(status)
  expect(got.body.requestId).toMatch(UUID)
  expect(got.body.error).toMatch(error)
  expect(sandbox.pipes()).toEqual(before.pipes)
  expect(sandbox.endpoints()).toEqual(before.endpoints)
  expect(sandbox.requests()).toHaveLength(before.requests + 1)
})

test('an absent header is told apart from a wrong one', async () => {
  const reply = await fetch(`${sandbox.url}${PIPES}/${OTHER}`)
  expect(reply.status).toBe(401)
  expect(await reply.json()).toMatchObject({ error: 'absent credentials: Basic is expected' })
  expect(sandbox.requests().at(-1)).toMatchObject({ authorization: 'absent' })
})

test('an error never repeats a value: it may be a secret', async () => {
  const secret = 'hunter2-hunter2'
  const source = { kafka: { credentials: { password: [secret], username: secret.length } } }
  const { body } = await ask(sandbox, PIPES, { body: { name: 'x', source } })
  expect(body.status).toBe(400)
  expect(JSON.stringify(body)).not.toContain(secret)
})

test('credentials can change while it runs', async () => {
  await using other = await givenSandbox()
  other.setAccess({ credentials: [{ keyId: 'new', keySecret: 'x' }], alertTokens: [] })
  expect((await ask(other, PIPES, { body: ORDERS })).status).toBe(401)
  const headers = { authorization: `Basic ${btoa('new:x')}` }
  expect((await ask(other, PIPES, { body: ORDERS, headers })).status).toBe(200)
})
