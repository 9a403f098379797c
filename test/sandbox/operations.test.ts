import { expect, test } from 'vitest'
import { ask, ENDPOINT, givenSandbox, ISO, ORDERS, PIPES, UUID } from './given.ts'
import { ALERT, ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'

test('a created pipe comes in the envelope, with an id, and can be read again', async () => {
  await using sandbox = await givenSandbox()
  const created = await ask(sandbox, PIPES, { body: ORDERS })
  expect(created.status).toBe(200)
  expect(Object.keys(created.body).toSorted()).toEqual(['requestId', 'result', 'status'])
  expect(created.body.status).toBe(200)
  expect(created.body.requestId).toMatch(UUID)
  const pipe = created.body.result
  expect(pipe.id).toMatch(UUID)
  expect(pipe.createdAt).toMatch(ISO)
  expect(pipe).toMatchObject({ serviceId: SERVICE_ID, name: 'orders', state: 'Provisioning' })
  expect(pipe.updatedAt).toBe(pipe.createdAt)

  const read = await ask(sandbox, `${PIPES}/${pipe.id}`)
  expect(read.status).toBe(200)
  expect(read.body.result).toEqual(pipe)
  expect(read.body.requestId).not.toBe(created.body.requestId)
  const elsewhere = PIPES.replace(SERVICE_ID, ORGANIZATION)
  expect((await ask(sandbox, `${elsewhere}/${pipe.id}`)).body.error).toBe('no such pipe in this service')
})

test('what is request-only is neither answered nor kept, and all the rest is', async () => {
  await using sandbox = await givenSandbox()
  const { result } = (await ask(sandbox, PIPES, { body: ORDERS })).body
  expect(result.source).toEqual({
    kafka: { brokers: 'b-1.example:9092', topics: 'orders', schemaRegistry: { url: 'https://r.example' } },
  })
  expect(result.destination).toEqual({
    database: 'shop',
    table: 'orders',
    columns: [{ name: 'id', type: 'UInt64' }],
  })
  const { fieldMappings, scaling, settings } = ORDERS
  expect(result).toMatchObject({ fieldMappings, scaling, settings })
  expect(JSON.stringify(sandbox.pipes())).not.toMatch(/p1|p2|u1|u2/)
})

test.each([
  [
    'an access key of object storage',
    { objectStorage: { path: 'x', accessKey: { accessKeyId: 'a', secretKey: 's' } } },
    { objectStorage: { path: 'x' } },
  ],
  [
    'an access key of a stream',
    { managedStream: { region: 'r', accessKey: { accessKeyId: 'a', secretKey: 's' } } },
    { managedStream: { region: 'r' } },
  ],
  [
    'credentials of Postgres',
    { postgres: { host: 'h', credentials: { username: 'a', password: 's' } } },
    { postgres: { host: 'h' } },
  ],
  [
    'a connection string is no such secret',
    { objectStorage: { connectionString: 'c' } },
    { objectStorage: { connectionString: 'c' } },
  ],
])('held back: %s', async (_why, source, shown) => {
  await using sandbox = await givenSandbox()
  const { status, body } = await ask(sandbox, PIPES, { body: { name: 'p', source } })
  expect(status).toBe(200)
  expect(body.result.source).toEqual(shown)
})

test('a pipe moves from Provisioning to Running by the time alone', async () => {
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  await using sandbox = await givenSandbox({ now: () => now })
  const { id } = (await ask(sandbox, PIPES, { body: ORDERS })).body.result
  const stateAfter = async (ms: number) => {
    now += ms
    return (await ask(sandbox, `${PIPES}/${id}`)).body.result.state
  }
  expect(await stateAfter(1_499)).toBe('Provisioning')
  expect(await stateAfter(1)).toBe('Running')
  expect(sandbox.pipes()[0]?.createdAt).toBe('2026-03-01T12:00:00.000Z')
})

test('creating is not idempotent: the same key and body twice make two pipes', async () => {
  await using sandbox = await givenSandbox()
  const headers = { 'idempotency-key': '5f0e8a3c-0000-4000-8000-000000000001' }
  const one = await ask(sandbox, PIPES, { body: ORDERS, headers })
  const two = await ask(sandbox, PIPES, { body: ORDERS, headers })
  expect(one.body.result.id).not.toBe(two.body.result.id)
  expect(sandbox.pipes()).toHaveLength(2)
  expect(sandbox.requests().map((request) => request.idempotencyKey)).toEqual([
    headers['idempotency-key'],
    headers['idempotency-key'],
  ])
})

test('an upsert makes the endpoint, the next one replaces all of it under the same id', async () => {
  await using sandbox = await givenSandbox()
  const first = {
    roles: ['sql_console_admin'],
    openApiKeys: ['k1', 'k2'],
    allowedOrigins: 'a.example,b.example',
  }
  const made = await ask(sandbox, ENDPOINT, { body: first })
  expect(made.body).toMatchObject({ status: 200, result: first })
  expect(made.body.result.id).toMatch(UUID)
  const replaced = await ask(sandbox, ENDPOINT, { body: { roles: ['sql_console_read_only'] } })
  expect(replaced.body.result).toEqual({
    id: made.body.result.id,
    roles: ['sql_console_read_only'],
    openApiKeys: [],
    allowedOrigins: '',
  })
  expect(sandbox.endpoints()).toHaveLength(1)
})

test('an alert comes under `data`, whole, without an envelope', async () => {
  await using sandbox = await givenSandbox()
  const { status, body } = await ask(sandbox, '/api/v2/alerts/alert-1')
  expect(status).toBe(200)
  expect(body).toEqual({ data: ALERT })
})

test('a request is recorded with all it said but the credential', async () => {
  await using sandbox = await givenSandbox()
  const { body } = await ask(sandbox, PIPES, { body: ORDERS, headers: { 'x-trace': '7' } })
  await ask(sandbox, '/api/v2/alerts/alert-1', { headers: { authorization: 'Bearer guess-me' } })
  const [create, alert] = sandbox.requests()
  expect(create).toMatchObject({
    seq: 1,
    operation: 'createPipe',
    method: 'POST',
    path: PIPES,
    authorization: 'right',
    credential: 'key-1',
    body: ORDERS,
    requestId: body.requestId,
    answer: { status: 200, done: true },
  })
  expect(create?.headers['x-trace']).toBe('7')
  expect(create?.headers).not.toHaveProperty('authorization')
  expect(alert).toMatchObject({ operation: 'getAlert', authorization: 'wrong', answer: { status: 401 } })
  expect(JSON.stringify(sandbox.requests())).not.toMatch(/guess-me|se:cret/)
})
