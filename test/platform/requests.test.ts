import { PIPE as PIPE_KIND } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import nock from 'nock'
import { expect, test } from 'vitest'
import { openNetwork } from '../../src/platform/network.ts'
import { outcomeOf } from '../../src/reconcile/apply/outcome-of-error.ts'
import {
  access,
  apiKey,
  DIRECT,
  envelope,
  failure,
  KEY_ID,
  KEY_SECRET,
  ORGANIZATION,
  PIPE,
  PIPES_PATH,
  platform,
  readOptions,
  secretsOf,
  SERVICE,
  TOKEN,
  createRequest,
} from './support/platform.ts'
import { mocked } from './support/mocked.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { folderForTest } from '../support/folders.ts'

const HOST = 'https://192.0.2.7'
const BASIC = `Basic ${Buffer.from(`${KEY_ID}:${KEY_SECRET}`).toString('base64')}`
const REQUEST_ID = 'b6a1f0de-0000-4000-8000-000000000001'
const PIPE_RESULT = { id: PIPE, name: 'orders', state: 'Running' }

interface Shape {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Takes down what is asked, whatever it is, and answers with `reply`. */
function takeDown(host: string, shapes: Shape[], reply: unknown): void {
  nock(host)
    .intercept(/.*/, 'GET')
    .optionally()
    .reply((request: Request) => answer(request))
  nock(host)
    .intercept(/.*/, 'POST')
    .optionally()
    .reply((request: Request) => answer(request))

  async function answer(request: Request): Promise<[number, string]> {
    const { pathname, search } = new URL(request.url)
    shapes.push({
      method: request.method,
      path: pathname + search,
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
    })
    return [200, typeof reply === 'string' ? reply : JSON.stringify(reply)]
  }
}

function shape(method: string, path: string, headers: Shape['headers'], body = ''): Shape {
  const common = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'pipewright/test',
    host: '192.0.2.7',
    authorization: BASIC,
    connection: 'keep-alive',
    ...(body === ''
      ? { 'cache-control': 'no-cache' }
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  }
  return { method, path, headers: { ...common, ...headers }, body }
}

test('GET pipe: path, headers and value are those of the interface (4.2)', async () => {
  const shapes: Shape[] = []
  const reply = await mocked(async () => {
    takeDown(HOST, shapes, envelope(PIPE_RESULT))
    await using p = platform({ baseUrl: HOST })
    return await p.read()
  })
  expect(reply).toEqual({ value: PIPE_RESULT, requestId: REQUEST_ID, credential: expect.any(String) })
  expect(shapes).toEqual([shape('GET', `${PIPES_PATH}/${PIPE}`, {})])
})

test('POST pipes: the body goes out byte for byte, with the intent as idempotency key (4.1)', async () => {
  const shapes: Shape[] = []
  const body = '{"name": "orders",  "source":{"kafka":{"topics":"ö"}}}'
  const reply = await mocked(async () => {
    takeDown(HOST, shapes, envelope(PIPE_RESULT))
    await using p = platform({ baseUrl: `${HOST}/` })
    const permit = await p.admit()
    expect(shapes).toEqual([])
    return await permit.send(createRequest(body, 'intent-1'))
  })
  expect(reply).toEqual({ value: PIPE_RESULT, requestId: REQUEST_ID, credential: expect.any(String) })
  const own = { connection: 'close', 'idempotency-key': 'intent-1' }
  expect(shapes).toEqual([shape('POST', PIPES_PATH, own, body)])
})

test('POST serviceQueryEndpoint: under a base URL with a path and a slash at its end (4.3)', async () => {
  const shapes: Shape[] = []
  const body = '{"roles":["sql_console_read_only"],"openApiKeys":[],"allowedOrigins":""}'
  const result = { id: 'endpoint-1', roles: ['sql_console_read_only'], openApiKeys: [], allowedOrigins: '' }
  const reply = await mocked(async () => {
    takeDown(HOST, shapes, envelope(result))
    await using p = platform({ baseUrl: `${HOST}/api//` })
    return await p.client.upsert(QUERY_ENDPOINT, access, async () => body, readOptions())
  })
  expect(reply).toEqual({ value: result, requestId: REQUEST_ID, credential: expect.any(String) })
  const path = `/api/v1/organizations/${ORGANIZATION}/services/${SERVICE}/serviceQueryEndpoint`
  expect(shapes).toEqual([shape('POST', path, {}, body)])
})

test('GET alert without the base URL of alerts: the setting is named', async () => {
  await using p = platform({})
  const refused = await failure(p.client.read({ kind: ALERT, service: undefined, id: 'a' }, readOptions()))
  const outcome = outcomeOf(refused, new AbortController().signal)
  expect(outcome).toMatchObject({
    reason: 'Unavailable',
    facts: { said: 'not sent: --alerts-base-url is not set', setting: '--alerts-base-url' },
  })
})

test('GET alert: bearer token, no envelope, an id cannot leave its segment (4.4)', async () => {
  const dir = folderForTest()
  await writeFile(join(dir, 'token'), `${TOKEN}\n`)
  const shapes: Shape[] = []
  const id = 'a/../b?c=d'
  const reply = await mocked(async () => {
    takeDown('https://192.0.2.8', shapes, { data: { id, state: 'OK' } })
    await using p = platform({ alertsBaseUrl: 'https://192.0.2.8', alertsTokenFile: join(dir, 'token') })
    const refused = await failure(p.client.read({ kind: ALERT, service: undefined, id: '..' }, readOptions()))
    expect(refused.facts).toMatchObject({ class: 'Rejected', effect: 'none' })
    return await p.client.read({ kind: ALERT, service: undefined, id }, readOptions())
  })
  expect(reply).toEqual({ value: { id, state: 'OK' }, requestId: undefined, credential: expect.any(String) })
  const own = { host: '192.0.2.8', authorization: `Bearer ${TOKEN}` }
  expect(shapes).toEqual([shape('GET', '/api/v2/alerts/a%2F..%2Fb%3Fc%3Dd', own)])
})

test('a request that nobody mocked, and a mock that nobody used, fail the test that made them', async () => {
  await expect(
    mocked(async () => {
      nock(HOST).get('/other').optionally().reply(200)
      await using p = platform({ baseUrl: HOST, idempotentRetries: 0 })
      await p.read().catch(() => undefined)
    }),
  ).rejects.toThrow('nobody mocked')
  await expect(
    mocked(async () => {
      nock(HOST).get('/other').reply(200)
    }),
  ).rejects.toThrow('not used')
})

test('two secrets with one API key share its budget', async () => {
  const budgets = await mocked(async () => {
    nock(HOST).get(`${PIPES_PATH}/${PIPE}`).twice().reply(200, envelope(PIPE_RESULT))
    const names = ['api', 'copy']
    const keys = names.flatMap((name) =>
      [...apiKey()].map(([file, text]) => [file.replace(/^[^/]+/, name), text]),
    )
    await using p = platform({ baseUrl: HOST, secrets: secretsOf(new Map(keys as [string, string][])) })
    for (const secretName of names)
      await p.client.read({ kind: PIPE_KIND, service: { ...access, secretName }, id: PIPE }, readOptions())
    return p.client.budgets()
  })
  expect(budgets).toMatchObject([{ used: 2 }, { used: 2 }])
})

test('a request that found no server gives its place back after its turn, and leaves no timer', async () => {
  const clock = createFakeClock()
  await using p = platform({ baseUrl: 'http://127.0.0.1:9', idempotentRetries: 0, clock })
  await failure(p.read())
  expect(clock.pending).toBe(0)
  await clock.advance(1_021)
  expect(p.client.budgets()).toMatchObject([{ used: 0 }])
})

test.each([
  ['without a proxy all origins share one way', undefined, 1, 'destroy'],
  [
    'behind one each scheme has its own',
    { origin: 'http://p.test', authorization: undefined, secrets: [], from: '' },
    2,
    Symbol.asyncDispose,
  ],
] as const)('connections are kept: %s', async (_, proxy, count, end) => {
  const proxies = { https: proxy, http: proxy, noProxy: [] }
  const network = openNetwork({ ...DIRECT, proxies }, 1_000)
  const ways = ['http://a', 'https://a', 'http://b', 'https://b'].map((origin) => network.wayTo(origin))
  expect(new Set(ways).size).toBe(count)
  await network[end]()
  const asked = ways.map(({ dispatcher }) =>
    dispatcher.request({ origin: 'http://a', path: '/', method: 'GET' }),
  )
  for (const one of asked) await expect(one).rejects.toThrow(/The client is (?:closed|destroyed)/)
})
