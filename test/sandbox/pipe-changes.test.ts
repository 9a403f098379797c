import { expect, test } from 'vitest'
import { ask } from './given.ts'
import { type Body, CLICKPIPES, givenPipe, SECOND } from './cloud.ts'

/* Size, settings and state of a pipe of the profile clickhouse-cloud, and its end: facts 3.1, 4.11, 6.1 and 7. */

interface Row {
  readonly why: string
  readonly body: Body
  readonly state?: string
  readonly sent: unknown
}

const SIZES: readonly (Row & { readonly shown: unknown })[] = [
  { why: 'replicas of Kafka', body: 'kafka', sent: { replicas: 40 }, shown: { replicas: 40 } },
  {
    why: 'the size of a replica, in the spelling of the service',
    body: 'kinesis',
    sent: { replicaCpuMillicores: 250, replicaMemoryGb: 0.5 },
    shown: { replicaCpuMillicores: '250m', replicaMemoryGb: '0.5Gi' },
  },
  { why: 'files at once', body: 's3', sent: { concurrency: 34 }, shown: { concurrency: 34 } },
  { why: 'replicas of Pub/Sub', body: 'pubsub', sent: { replicas: 2 }, shown: { replicas: 2 } },
]

test.each(SIZES)('a new size shows only after a while: $why', async ({ body, sent, shown }) => {
  await using pipe = await givenPipe({ body })
  const got = await pipe.send('PATCH', '/scaling', sent)
  expect(got).toMatchObject({ status: 200, body: { result: { id: pipe.id } } })
  expect(got.body.result.scaling).toEqual({ replicas: 0 })
  pipe.pass(SECOND - 1)
  expect((await pipe.read()).body.result.scaling).toEqual({ replicas: 0 })
  pipe.pass(1)
  expect((await pipe.read()).body.result.scaling).toEqual(shown)
})

test('sizes merge', async () => {
  await using pipe = await givenPipe({ body: 'kafka' })
  await pipe.send('PATCH', '/scaling', { replicas: 3 })
  await pipe.send('PATCH', '/scaling', { replicaCpuMillicores: 500 })
  pipe.pass(SECOND)
  expect((await pipe.read()).body.result.scaling).toEqual({ replicas: 3, replicaCpuMillicores: '500m' })
})

const WRONG_SIZES: readonly Row[] = [
  { why: 'nothing', body: 'kafka', sent: {} },
  { why: 'no replicas', body: 'kafka', sent: { replicas: 0 } },
  { why: 'too many replicas', body: 'kafka', sent: { replicas: 41 } },
  { why: 'half a replica', body: 'kafka', sent: { replicas: 1.5 } },
  { why: 'too little CPU', body: 'kafka', sent: { replicaCpuMillicores: 124 } },
  { why: 'too much memory', body: 'kafka', sent: { replicaMemoryGb: 8.5 } },
  { why: 'an unknown field', body: 'kafka', sent: { replicas: 2, nodes: 1 } },
  { why: 'null', body: 'kafka', sent: { replicas: null } },
  { why: 'files at once of Kafka', body: 'kafka', sent: { concurrency: 2 } },
  { why: 'CPU of object storage', body: 's3', sent: { replicaCpuMillicores: 250 } },
  { why: 'memory of Pub/Sub', body: 'pubsub', sent: { replicaMemoryGb: 1 } },
  { why: 'a database', body: 'postgres', sent: { replicas: 2 } },
  { why: 'a pipe that is Completed', body: 's3', state: 'Completed', sent: { replicas: 2 } },
]

test('settings merge although it is a PUT, keep 0 and false, and come back by themselves', async () => {
  await using pipe = await givenPipe({ body: 's3' })
  const first = { object_storage_concurrency: 4, clickhouse_max_threads: 0 }
  expect((await pipe.send('PUT', '/settings', first)).body).toMatchObject({ status: 200, result: first })
  const second = await pipe.send('PUT', '/settings', { object_storage_use_cluster_function: false })
  const both = { ...first, object_storage_use_cluster_function: false }
  expect(second.body.result).toEqual(both)
  expect((await pipe.read()).body.result.settings).toEqual(both)
})

const WRONG_SETTINGS: readonly (Row & { readonly status: number })[] = [
  { why: 'nothing', body: 'kafka', sent: {}, status: 400 },
  { why: 'too short a wait', body: 'kafka', sent: { streaming_max_insert_wait_ms: 499 }, status: 400 },
  { why: 'an unknown setting', body: 'kafka', sent: { kafka_read_fast: true }, status: 400 },
  { why: 'null', body: 'kafka', sent: { streaming_max_insert_wait_ms: null }, status: 400 },
  {
    why: 'a setting of files for Kafka',
    body: 'kafka',
    sent: { clickhouse_max_threads: 1 },
    status: 400,
  },
  {
    why: 'one of messages for files',
    body: 's3',
    sent: { streaming_max_insert_wait_ms: 500 },
    status: 400,
  },
  { why: 'a database, which has none', body: 'mysql', sent: { clickhouse_max_threads: 1 }, status: 404 },
]

interface Course {
  readonly why: string
  readonly body: Body
  readonly from: string
  readonly command: 'start' | 'stop' | 'resync'
  /** The state in each second afterwards. */
  readonly goes: readonly string[]
}

const COURSES: readonly Course[] = [
  { why: 'messages stop', body: 'kafka', from: 'Running', command: 'stop', goes: ['Stopping', 'Stopped'] },
  { why: 'a database pauses', body: 'mysql', from: 'Running', command: 'stop', goes: ['Pausing', 'Paused'] },
  { why: 'what failed can be stopped', body: 'kafka', from: 'Failed', command: 'stop', goes: ['Stopping'] },
  {
    why: 'what is paused stays so',
    body: 'mysql',
    from: 'Paused',
    command: 'stop',
    goes: ['Paused', 'Paused'],
  },
  {
    why: 'messages start',
    body: 'kafka',
    from: 'Stopped',
    command: 'start',
    goes: ['Provisioning', 'Running'],
  },
  { why: 'a database starts', body: 'mysql', from: 'Paused', command: 'start', goes: ['Setup', 'Running'] },
  { why: 'what failed can start', body: 'kafka', from: 'Failed', command: 'start', goes: ['Provisioning'] },
  {
    why: 'tables are copied again',
    body: 'mongodb',
    from: 'Running',
    command: 'resync',
    goes: ['Snapshot', 'Resync', 'Running', 'Running'],
  },
  {
    why: 'even when it had come to its end',
    body: 'postgres',
    from: 'Completed',
    command: 'resync',
    goes: ['Snapshot', 'Resync', 'Running'],
  },
]

const REFUSED_COMMANDS: readonly (Omit<Course, 'goes' | 'command'> & {
  readonly sent: unknown
  readonly error: RegExp
})[] = [
  { why: 'it runs', body: 'kafka', from: 'Running', sent: { command: 'start' }, error: /already running/ },
  {
    why: 'it is copied',
    body: 'mysql',
    from: 'Snapshot',
    sent: { command: 'start' },
    error: /already running/,
  },
  {
    why: 'it is on its way down',
    body: 'kafka',
    from: 'Stopping',
    sent: { command: 'start' },
    error: /Stopping/,
  },
  {
    why: 'it is over',
    body: 's3',
    from: 'Completed',
    sent: { command: 'stop' },
    error: /Completed/,
  },
  {
    why: 'there is no resync of it',
    body: 'kafka',
    from: 'Running',
    sent: { command: 'resync' },
    error: /resync/,
  },
  {
    why: 'the wrong key',
    body: 'kafka',
    from: 'Running',
    sent: { action: 'stop' },
    error: /^BAD_REQUEST.*command/,
  },
  {
    why: 'a command that is none',
    body: 'kafka',
    from: 'Running',
    sent: { command: 'kill' },
    error: /command/,
  },
]

test.each(WRONG_SIZES)('a size that is refused changes nothing: $why', async ({ body, state, sent }) => {
  await using pipe = await givenPipe({ body, state })
  const before = (await pipe.read()).body.result
  expect((await pipe.send('PATCH', '/scaling', sent)).status).toBe(400)
  expect((await pipe.read()).body.result).toEqual(before)
})

test.each(WRONG_SETTINGS)(
  'settings that are refused change nothing: $why',
  async ({ body, sent, status }) => {
    await using pipe = await givenPipe({ body })
    const before = (await pipe.read()).body.result
    expect((await pipe.send('PUT', '/settings', sent)).status).toBe(status)
    expect((await pipe.read()).body.result).toEqual(before)
  },
)

test.each(COURSES)('$command from $from: $why', async ({ body, from, command, goes }) => {
  await using pipe = await givenPipe({ body, state: from })
  const got = await pipe.send('PATCH', '/state', { command })
  expect(got.body).toMatchObject({ status: 200, result: { state: from } }) // the reply does not know yet
  for (const state of goes) {
    // one second after the other: the point is the course
    expect(await pipe.state()).toBe(state)
    pipe.pass(SECOND)
  }
})

test.each(REFUSED_COMMANDS)(
  'a command is refused, and the state stays: $why',
  async ({ body, from, sent, error }) => {
    await using pipe = await givenPipe({ body, state: from })
    const got = await pipe.send('PATCH', '/state', sent)
    expect(got.status).toBe(400)
    expect(got.body.error).toMatch(error)
    expect(await pipe.state()).toBe(from)
  },
)

test('a deleted pipe is there for a while, in the list too, and takes no more changes; then it is gone', async () => {
  await using pipe = await givenPipe({ body: 'kafka' })
  const listed = async () => (await ask(pipe.sandbox, CLICKPIPES)).body.result.length
  const got = await pipe.send('DELETE', '')
  expect(got.body).toEqual({ status: 200, requestId: expect.any(String) })
  pipe.pass(SECOND - 1)
  expect(await pipe.state()).toBe('Running')
  expect(await listed()).toBe(1)
  expect((await pipe.send('PATCH', '', { name: 'sales' })).status).toBe(409)
  expect((await pipe.send('DELETE', '')).status).toBe(200) // and does not begin anew
  pipe.pass(1)
  expect(await pipe.read()).toMatchObject({
    status: 404,
    body: { error: expect.stringMatching(/^NOT_FOUND/) },
  })
  expect(await listed()).toBe(0)
  expect((await pipe.send('DELETE', '')).status).toBe(404)
  expect(pipe.sandbox.pipes()).toEqual([])
})
