import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'
import { BODIES, CLICKPIPES, givenCloud, givenPipe, SECOND } from './cloud.ts'
import { ask, ENDPOINT, givenSandbox, ORDERS, PIPES } from './given.ts'
import { folderForFile } from '../support/folders.ts'

/* The service of the profile clickhouse-cloud, its query endpoint, and what goes wrong. */

const folder = folderForFile()

const SERVICE = { organizationId: ORGANIZATION, serviceId: SERVICE_ID }

const WRITES = [
  ['an update', 'PATCH', '', { name: 'sales' }],
  ['a size', 'PATCH', '/scaling', { replicas: 2 }],
  ['settings', 'PUT', '/settings', { streaming_max_insert_wait_ms: 900 }],
  ['a command', 'PATCH', '/state', { command: 'stop' }],
] as const

test.each(WRITES)(
  'an idle service takes no %s, and says so at the end',
  async (_what, method, below, body) => {
    await using pipe = await givenPipe({ body: 'kafka' })
    pipe.sandbox.setService({ ...SERVICE, state: 'idle' })
    const before = await pipe.read()
    const got = await pipe.send(method, below, body)
    expect(got).toMatchObject({
      status: 424,
      body: { error: expect.stringMatching(/^FAILED_DEPENDENCY.* idle$/) },
    })
    expect((await pipe.read()).body.result).toEqual(before.body.result)
    pipe.sandbox.setService({ ...SERVICE, state: 'running' })
    expect((await pipe.send(method, below, body)).status).toBe(200)
  },
)

test('a service is stopped by the fixture, once, and by the control interface', async () => {
  const fixture = { services: [{ ...SERVICE, state: 'stopped' }] }
  await using sandbox = await givenCloud({ fixture })
  const create = () => ask(sandbox, CLICKPIPES, { body: { name: 'orders', ...BODIES.kafka } })
  expect(await create()).toMatchObject({ status: 424, body: { error: expect.stringMatching(/ stopped$/) } })
  const tell = (state: string) => ask(sandbox, '/-/sandbox/service', { body: { ...SERVICE, state } })
  expect((await tell('asleep')).status).toBe(404)
  expect((await tell('running')).status).toBe(200)
  expect((await create()).status).toBe(200)
  expect((await ask(sandbox, '/-/sandbox/state')).body.services).toEqual([{ ...SERVICE, state: 'running' }])
})

test('the default profile knows no states of a service, and none of these requests', async () => {
  const fixture = { services: [{ ...SERVICE, state: 'idle' }] }
  await expect(givenSandbox({ fixture })).rejects.toThrow(/no such service state/)
  await using sandbox = await givenSandbox()
  const { id } = (await ask(sandbox, PIPES, { body: ORDERS })).body.result
  for (const [, method, below, body] of WRITES) {
    // a handful, one after the other
    expect((await ask(sandbox, `${PIPES}/${id}${below}`, { method, body })).body.error).toBe('no such path')
  }
  expect((await ask(sandbox, `${PIPES}/${id}`, { method: 'DELETE' })).status).toBe(404)
  expect((await ask(sandbox, ENDPOINT)).status).toBe(404)
  expect(sandbox.pipes()[0]).not.toHaveProperty('credentialsRevision')
})

test('a query endpoint is read and taken away, and is a 404 where there is none', async () => {
  await using sandbox = await givenCloud()
  const read = () => ask(sandbox, ENDPOINT)
  const remove = () => ask(sandbox, ENDPOINT, { method: 'DELETE' })
  expect(await read()).toMatchObject({ status: 404, body: { error: expect.stringMatching(/^NOT_FOUND/) } })
  expect((await remove()).status).toBe(404)
  const body = { roles: ['sql_console_admin'], openApiKeys: [SERVICE_ID], allowedOrigins: '' }
  const made = await ask(sandbox, ENDPOINT, { body })
  expect((await read()).body.result).toEqual(made.body.result)
  expect((await remove()).body).toEqual({ status: 200, requestId: expect.any(String) })
  expect((await read()).status).toBe(404)
})

test.each(WRITES)('%s that is answered and not applied', async (_what, method, below, body) => {
  await using pipe = await givenPipe({ body: 'kafka' })
  const before = await pipe.read()
  pipe.sandbox.faults.add({ fault: { type: 'not-applied' }, subject: pipe.id })
  expect((await pipe.send(method, below, body)).status).toBe(200)
  expect(pipe.sandbox.requests().at(-1)?.answer).toEqual({ status: 200, fault: 'not-applied', done: false })
  pipe.pass(SECOND)
  expect((await pipe.read()).body.result).toEqual(before.body.result)
  await pipe.send(method, below, body) // the next one is
  pipe.pass(SECOND)
  expect((await pipe.read()).body.result).not.toEqual(before.body.result)
})

test.each<readonly [string, FaultInput, number, RegExp]>([
  [
    'a text of its own',
    { type: 'status', status: 424, error: 'FAILED_DEPENDENCY: it is idle' },
    424,
    /^FAILED_DEPENDENCY: it is idle$/,
  ],
  ['no text of its own', { type: 'status', status: 424 }, 424, /made to fail with 424/],
])('a status with %s comes in the envelope', async (_why, fault, status, error) => {
  await using pipe = await givenPipe({ body: 'kafka' })
  pipe.sandbox.faults.add({ operation: 'scalePipe', fault })
  const got = await pipe.send('PATCH', '/scaling', { replicas: 2 })
  expect(got.body).toEqual({ status, requestId: expect.any(String), error: expect.stringMatching(error) })
})

test('how long things take can stand in the fixture', async () => {
  const times = { movingMs: 5, scalingLagMs: 0, deletingMs: 0, provisioningMs: 0 }
  await using pipe = await givenPipe({ body: 'kafka' }, { fixture: { times } })
  expect((await pipe.send('PATCH', '/scaling', { replicas: 2 })).body.result.scaling).toEqual({ replicas: 2 })
  await pipe.send('PATCH', '/state', { command: 'stop' })
  expect(await pipe.state()).toBe('Stopping')
  pipe.pass(5)
  expect(await pipe.state()).toBe('Stopped')
  await pipe.send('DELETE', '')
  expect((await pipe.read()).status).toBe(404)
})

test('a file keeps commands, settings and deletions under way over a restart', async () => {
  const file = join(folder, 'sandbox.db')
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  const options = { file, now: () => now }
  const ids: string[] = []
  {
    await using sandbox = await givenCloud(options)
    for (const name of ['stopped', 'deleted']) {
      const created = await ask(sandbox, CLICKPIPES, { body: { name, ...BODIES.kafka } })
      ids.push(created.body.result.id)
    }
    const [stopped, deleted] = ids
    await ask(sandbox, `${CLICKPIPES}/${stopped}/state`, { method: 'PATCH', body: { command: 'stop' } })
    const settings = { streaming_max_insert_wait_ms: 900 }
    await ask(sandbox, `${CLICKPIPES}/${stopped}/settings`, { method: 'PUT', body: settings })
    await ask(sandbox, `${CLICKPIPES}/${deleted}`, { method: 'DELETE' })
    sandbox.setService({ ...SERVICE, state: 'idle' })
  }
  now += SECOND
  await using again = await givenCloud(options)
  const read = (index: number) => ask(again, `${CLICKPIPES}/${ids[index]}`)
  expect((await read(0)).body.result).toMatchObject({
    state: 'Stopped',
    settings: { streaming_max_insert_wait_ms: 900 },
  })
  expect((await read(1)).status).toBe(404)
  expect(again.services()).toEqual([{ ...SERVICE, state: 'idle' }])
})
