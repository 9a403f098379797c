import { expect, test } from 'vitest'
import { createRateLimit } from '../../src/sandbox/credential.ts'
import { ask, givenSandbox, ORDERS, PIPES } from './given.ts'

test('a window slides: a request is free again when the oldest of it is out', () => {
  const limit = createRateLimit({ requests: 2, windowMs: 1_000 })
  expect([0, 400, 999].map((at) => limit.admit('a', at))).toEqual([undefined, undefined, 1])
  expect(limit.admit('a', 1_000)).toBeUndefined() // the one at 0 is out
  expect(limit.admit('a', 1_100)).toBe(300) // the one at 400 is not
})

test('each credential has a window of its own', () => {
  const limit = createRateLimit({ requests: 1, windowMs: 1_000 })
  expect(limit.admit('a', 0)).toBeUndefined()
  expect(limit.admit('b', 0)).toBeUndefined()
  expect(limit.admit('a', 0)).toBe(1_000)
})

test('beyond the limit the answer is 429 with the seconds to wait, and nothing is done', async () => {
  let now = 1_000_000
  await using sandbox = await givenSandbox({ limit: { requests: 2, windowMs: 10_000 }, now: () => now })
  const create = () => ask(sandbox, PIPES, { body: ORDERS })
  expect([(await create()).status, (await create()).status]).toEqual([200, 200])
  now += 2_500
  const third = await create()
  expect(third.status).toBe(429)
  expect(third.headers['retry-after']).toBe('8')
  expect(sandbox.pipes()).toHaveLength(2)
  expect((await ask(sandbox, '/api/v2/alerts/alert-1')).status).toBe(200) // another credential
  expect((await ask(sandbox, PIPES, { body: ORDERS, headers: { authorization: 'Basic bm8=' } })).status).toBe(
    401,
  )
  now += 7_500
  expect((await create()).status).toBe(200)
})
