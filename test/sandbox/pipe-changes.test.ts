import { expect, test } from 'vitest'
import { ask } from './given.ts'
import { type Body, CLICKPIPES, type Given, givenPipe, givenPipeOf, SECOND } from './cloud.ts'

/* Size, settings and state of a pipe of the profile clickhouse-cloud, and its end: facts 3.1, 4.11, 6.1 and 7. */

type Row<T extends readonly unknown[]> = readonly [why: string, body: Body, ...T]

const SIZES: readonly Row<[sent: object, shown: object]>[] = [
  ['replicas of Kafka', 'kafka', { replicas: 40 }, { replicas: 40 }],
  [
    'the size of a replica, in the spelling of the service',
    'kinesis',
    { replicaCpuMillicores: 250, replicaMemoryGb: 0.5 },
    { replicaCpuMillicores: '250m', replicaMemoryGb: '0.5Gi' },
  ],
  ['files at once', 's3', { concurrency: 34 }, { concurrency: 34 }],
  ['replicas of Pub/Sub', 'pubsub', { replicas: 2 }, { replicas: 2 }],
]

test.each(SIZES)('a new size shows only after a while: %s', async (_why, body, sent, shown) => {
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

const WRONG_SIZES: readonly (readonly [why: string, of: Given, sent: object])[] = [
  ['nothing', 'kafka', {}],
  ['no replicas', 'kafka', { replicas: 0 }],
  ['too many replicas', 'kafka', { replicas: 41 }],
  ['half a replica', 'kafka', { replicas: 1.5 }],
  ['too little CPU', 'kafka', { replicaCpuMillicores: 124 }],
  ['too much memory', 'kafka', { replicaMemoryGb: 8.5 }],
  ['an unknown field', 'kafka', { replicas: 2, nodes: 1 }],
  ['null', 'kafka', { replicas: null }],
  ['files at once of Kafka', 'kafka', { concurrency: 2 }],
  ['CPU of object storage', 's3', { replicaCpuMillicores: 250 }],
  ['memory of Pub/Sub', 'pubsub', { replicaMemoryGb: 1 }],
  ['a database', 'postgres', { replicas: 2 }],
  ['a pipe that is Completed', 's3 Completed', { replicas: 2 }],
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

const WRONG_SETTINGS: readonly Row<[sent: object, status: number]>[] = [
  ['nothing', 'kafka', {}, 400],
  ['too short a wait', 'kafka', { streaming_max_insert_wait_ms: 499 }, 400],
  ['an unknown setting', 'kafka', { kafka_read_fast: true }, 400],
  ['null', 'kafka', { streaming_max_insert_wait_ms: null }, 400],
  ['a setting of files for Kafka', 'kafka', { clickhouse_max_threads: 1 }, 400],
  ['one of messages for files', 's3', { streaming_max_insert_wait_ms: 500 }, 400],
  ['a database, which has none', 'mysql', { clickhouse_max_threads: 1 }, 404],
]

/** `goes`: the state in each second afterwards. */
type Course = readonly [command: string, from: string, why: string, body: Body, goes: readonly string[]]

const COURSES: readonly Course[] = [
  ['stop', 'Running', 'messages stop', 'kafka', ['Stopping', 'Stopped']],
  ['stop', 'Running', 'a database pauses', 'mysql', ['Pausing', 'Paused']],
  ['stop', 'Failed', 'what failed can be stopped', 'kafka', ['Stopping']],
  ['stop', 'Paused', 'what is paused stays so', 'mysql', ['Paused', 'Paused']],
  ['start', 'Stopped', 'messages start', 'kafka', ['Provisioning', 'Running']],
  ['start', 'Paused', 'a database starts', 'mysql', ['Setup', 'Running']],
  ['start', 'Failed', 'what failed can start', 'kafka', ['Provisioning']],
  ['resync', 'Running', 'tables are copied again', 'mongodb', ['Snapshot', 'Resync', 'Running', 'Running']],
  ['resync', 'Completed', 'even when it had come to its end', 'postgres', ['Snapshot', 'Resync', 'Running']],
]

const REFUSED_COMMANDS: readonly Row<[from: string, sent: object, error: RegExp]>[] = [
  ['it runs', 'kafka', 'Running', { command: 'start' }, /already running/],
  ['it is copied', 'mysql', 'Snapshot', { command: 'start' }, /already running/],
  ['it is on its way down', 'kafka', 'Stopping', { command: 'start' }, /Stopping/],
  ['it is over', 's3', 'Completed', { command: 'stop' }, /Completed/],
  ['there is no resync of it', 'kafka', 'Running', { command: 'resync' }, /resync/],
  ['the wrong key', 'kafka', 'Running', { action: 'stop' }, /^BAD_REQUEST.*command/],
  ['a command that is none', 'kafka', 'Running', { command: 'kill' }, /command/],
]

test.each(WRONG_SIZES)('a size that is refused changes nothing: %s', async (_why, of, sent) => {
  await using pipe = await givenPipeOf(of)
  const before = (await pipe.read()).body.result
  expect((await pipe.send('PATCH', '/scaling', sent)).status).toBe(400)
  expect((await pipe.read()).body.result).toEqual(before)
})

test.each(WRONG_SETTINGS)(
  'settings that are refused change nothing: %s',
  async (_why, body, sent, status) => {
    await using pipe = await givenPipe({ body })
    const before = (await pipe.read()).body.result
    expect((await pipe.send('PUT', '/settings', sent)).status).toBe(status)
    expect((await pipe.read()).body.result).toEqual(before)
  },
)

test.each(COURSES)('%s from %s: %s', async (command, from, _why, body, goes) => {
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
  'a command is refused, and the state stays: %s',
  async (_why, body, from, sent, error) => {
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
