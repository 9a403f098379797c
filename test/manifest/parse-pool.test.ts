import { createHash } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/manifest/limits.ts'
import { createParsePool } from '../../src/manifest/parse-pool.ts'
import type { ParsePool } from '../../src/manifest/parse-pool.ts'
import { parseFile } from '../../src/manifest/parse-file.ts'
import { documents, endpoint, lock, pipe, service, UUID } from './support.ts'

let pool: ParsePool
afterEach(() => pool[Symbol.asyncDispose]())

const TEXTS = [
  documents(service('analytics'), pipe('a', { policy: 'interval: 5m' }), lock('l', { 'Pipe/a': UUID })),
  pipe('b').replace('topics: orders', 'topics: 7'),
  'a: [',
  '',
  '\ufeff' + endpoint('e').replace(/}\n$/, ', openApiKeys: [key-1, key-1]}\n'),
  pipe('with-a-name-that-is-long-enough-to-be-a-slice'),
]

function content(n: number) {
  const bytes = Buffer.from(TEXTS[n % TEXTS.length] ?? '')
  return { file: `f${n}.yaml`, hash: createHash('sha256').update(bytes).digest('hex'), bytes }
}

const COUNT = 500

/** All files, as the reader gives them: it waits when there is no room, and its bytes are overwritten. */
async function parseAll(): Promise<readonly unknown[]> {
  const parsed: Promise<unknown>[] = []
  for (let n = 0; n < COUNT; n += 1) {
    const given = content(n)
    parsed.push(pool.parse(given))
    given.bytes.fill(0)
    await pool.hasRoom()
  }
  pool.end()
  return Promise.all(parsed)
}

test('helpers say of each file just what is said here', async () => {
  pool = createParsePool(DEFAULT_LIMITS)
  const expected = Array.from({ length: COUNT }, (_, n) => parseFile(content(n), DEFAULT_LIMITS))
  expect(await parseAll()).toEqual(expected)
})

test('what a helper that is killed had to do is done here', async () => {
  pool = createParsePool(DEFAULT_LIMITS)
  const all = parseAll()
  const killed = pool.pids.map((pid) => process.kill(pid, 'SIGKILL'))
  expect(killed.length).toBeGreaterThan(0)
  expect(await all).toHaveLength(COUNT)
})

test('what a helper that hangs had to do is done here', async () => {
  pool = createParsePool(DEFAULT_LIMITS, { answerMs: 100 })
  for (const pid of pool.pids) process.kill(pid, 'SIGSTOP')
  expect(await parseAll()).toHaveLength(COUNT)
})

test('where no process can be started, all is done here', async () => {
  pool = createParsePool(DEFAULT_LIMITS, { execPath: '/nowhere/node' })
  expect(await parseAll()).toHaveLength(COUNT)
})

test('it ends with what it was given undone, and leaves no process', async () => {
  pool = createParsePool(DEFAULT_LIMITS)
  const { pids } = pool
  void pool.parse(content(0))
  await pool[Symbol.asyncDispose]()
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})
