import { execFile } from 'node:child_process'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'
import { KEPT_REQUESTS, openStorage } from '../../src/sandbox/storage.ts'
import { addOne } from './counter.ts'
import { ask, ENDPOINT, givenSandbox, ORDERS, PIPES } from './given.ts'
import { folderForTest } from '../support/folders.ts'

const OTHER_PROCESS = fileURLToPath(new URL('other-process.ts', import.meta.url))
const OTHER_WRITER = fileURLToPath(new URL('other-writer.ts', import.meta.url))

let folder: string

beforeEach(async () => {
  folder = folderForTest()
})

test('a file keeps everything over a restart', async () => {
  const file = join(folder, 'sandbox.db')
  let id: string
  {
    await using sandbox = await givenSandbox({ file })
    id = (await ask(sandbox, PIPES, { body: ORDERS })).body.result.id
    await ask(sandbox, ENDPOINT, { body: { allowedOrigins: 'a.example' } })
    sandbox.change(id, { scaling: { replicas: 9 } })
    sandbox.setAlert('alert-1', { state: 'ALERT' })
  }
  await using again = await givenSandbox({ file })
  expect((await ask(again, `${PIPES}/${id}`)).body.result).toMatchObject({
    name: 'orders',
    scaling: { replicas: 9 },
  })
  expect(again.endpoints()[0]?.body).toMatchObject({ allowedOrigins: 'a.example' })
  expect((await ask(again, '/api/v2/alerts/alert-1')).body.data.state).toBe('ALERT') // the world did not reset it
  expect(again.requests().map(({ seq, operation }) => [seq, operation])).toEqual([
    [1, 'createPipe'],
    [2, 'upsertQueryEndpoint'],
    [3, 'getPipe'],
    [4, 'getAlert'],
  ])
})

test('in memory nothing is kept', async () => {
  {
    await using sandbox = await givenSandbox()
    await ask(sandbox, PIPES, { body: ORDERS })
  }
  await using again = await givenSandbox()
  expect([again.pipes(), again.requests()]).toEqual([[], []])
})

test('what was done before a cut is on disk, whoever looks', async () => {
  const file = join(folder, 'sandbox.db')
  await using sandbox = await givenSandbox({ file, faults: { rules: [{ fault: { type: 'cut-after' } }] } })
  await expect(ask(sandbox, PIPES, { body: ORDERS })).rejects.toThrow(/other side closed|ECONNRESET/)
  using reader = openStorage(file)
  expect(reader.all('pipe')).toHaveLength(1)
  expect(reader.requests()[0]?.answer).toEqual({ fault: 'cut-after', done: true })
})

test('two processes on one file see the same pipes and requests', async () => {
  const file = join(folder, 'sandbox.db')
  await using sandbox = await givenSandbox({ file })
  const other = promisify(execFile)(process.execPath, [OTHER_PROCESS, file, '15'])
  const ours: string[] = []
  for (let n = 0; n < 15; n += 1) {
    // one after the other: the point is to alternate with the other process
    ours.push((await ask(sandbox, PIPES, { body: { ...ORDERS, name: `ours-${n}` } })).body.result.id)
  }
  const theirs = JSON.parse((await other).stdout) as { ids: string[] }
  expect(
    sandbox
      .pipes()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual([...ours, ...theirs.ids].toSorted())
  const seqs = sandbox.requests().map(({ seq }) => seq)
  expect(seqs).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
  const read = await ask(sandbox, `${PIPES}/${theirs.ids[0]}`)
  expect(read.body.result.name).toBe('theirs-0')
})

test('two processes that read and write the same pipe wait for one another and lose nothing', async () => {
  const file = join(folder, 'sandbox.db')
  using storage = openStorage(file)
  const service = { organizationId: 'o', serviceId: 's', createdAt: 0, updatedAt: 0, incidents: [] }
  storage.put('pipe', 'counter', { id: 'counter', ...service, body: { count: 0 } })
  const other = promisify(execFile)(process.execPath, [OTHER_WRITER, file, '150'])
  await expect.poll(() => storage.get('applied', 'ready'), { interval: 1 }).toBeDefined()
  for (let n = 0; n < 150; n += 1) addOne(storage)
  await other
  expect(storage.get('pipe', 'counter')?.body).toEqual({ count: 300 })
})

test('a file is for its owner, and holds no password even if somebody sends a real one', async () => {
  const file = join(folder, 'sandbox.db')
  await using sandbox = await givenSandbox({ file })
  await ask(sandbox, PIPES, { body: ORDERS })
  await ask(sandbox, PIPES, { body: '{"password": "p2"' })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const bodies = sandbox.requests().map(({ body }) => body)
  expect(bodies[0]).toMatchObject({
    name: 'orders',
    source: { kafka: { credentials: { username: 'u2', password: '[secret]' } } },
  })
  expect(bodies[1]).toBe('not JSON, 17 characters')
})

test.each<[string, (file: string) => unknown, RegExp]>([
  [
    'is no database',
    (file) => writeFile(file, 'not a database, but long enough to be read as one'.repeat(50)),
    /cannot use .*sandbox\.db .*not a database/,
  ],
  [
    'comes from a newer version',
    (file) => withDatabase(file, 'PRAGMA user_version = 99'),
    /newer version \(99\)/,
  ],
  [
    'comes from an earlier version',
    (file) => withDatabase(file, 'PRAGMA user_version = 4'),
    /earlier version \(4\)/,
  ],
])('a file is refused that %s', async (_why, prepare, message) => {
  const file = join(folder, 'sandbox.db')
  await prepare(file)
  await expect(givenSandbox({ file })).rejects.toThrow(message)
})

test('a transaction that throws leaves nothing behind', () => {
  using storage = openStorage(undefined)
  const act = () =>
    storage.transaction(() => {
      storage.putNew('applied', 'x', true)
      throw new Error('no')
    })
  expect(act).toThrow('no')
  expect(storage.putNew('applied', 'x', true)).toBe(true)
})

test('old requests are forgotten', () => {
  using storage = openStorage(undefined)
  const facts = {
    at: 0,
    operation: undefined,
    method: 'GET',
    path: '/',
    headers: {},
    credential: undefined,
  } as const
  const request = {
    ...facts,
    authorization: 'absent',
    body: undefined,
    idempotencyKey: undefined,
    requestId: 'r',
  } as const
  storage.transaction(() => {
    for (let n = 0; n < KEPT_REQUESTS + 2_000; n += 1) storage.addRequest(request)
  })
  const kept = storage.requests()
  expect(kept).toHaveLength(KEPT_REQUESTS)
  expect(kept[0]?.seq).toBe(2_001)
})

function withDatabase(file: string, sql: string): void {
  using database = new DatabaseSync(file, { timeout: 10_000 })
  database.exec(sql)
}
