import { expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import { ask, ENDPOINT, givenSandbox, ORDERS, PIPES } from './given.ts'
import { speak, type Seen } from './wire.ts'

/** `done`: whether the work is done. `end`: how the connection ends. */
type Row = readonly [
  why: string,
  fault: FaultInput,
  head: RegExp,
  body: RegExp,
  about: { readonly done?: boolean; readonly end?: Seen['end'] },
]

const NOTHING = /^$/

const WAITS = [
  ['retry-after', /^HTTP\/1.1 429[^]*retry-after: 30\r/i],
  ['x-ratelimit-reset', /x-ratelimit-reset: 1772366430\r/i],
  ['none', /^(?![^]*(retry-after|ratelimit))HTTP\/1.1 429/i],
] as const

const ROWS: readonly Row[] = [
  ['late, but whole', { type: 'latency', ms: 50 }, /^HTTP\/1.1 200/, /"id":/, { done: true }],
  ...WAITS.map(([header, head]): Row => [
    `429 with the header ${header}`,
    { type: 'rate-limit', seconds: 30, header },
    head,
    /"status":429/,
    {},
  ]),
  ...[400, 401, 403, 404, 408, 409, 422, 424, 425, 500, 502, 503].map((status): Row => [
    `a bare ${status}`,
    { type: 'status', status },
    new RegExp(`^HTTP/1.1 ${status} `),
    /"requestId":.*"error":/,
    {},
  ]),
  ['reset before the work', { type: 'reset' }, NOTHING, NOTHING, { end: 'reset' }],
  ['cut before the work', { type: 'cut-before' }, NOTHING, NOTHING, {}],
  ['cut after the work', { type: 'cut-after' }, NOTHING, NOTHING, { done: true }],
  ['half a body', { type: 'half-body' }, /^HTTP\/1.1 200/, /^\{"status":200[^]*[^}]$/, { done: true }],
  ['a 200 without an id', { type: 'no-id' }, /^HTTP\/1.1 200/, /"result":\{"serviceId"/, { done: true }],
  ['a page of a proxy', { type: 'html' }, /^HTTP\/1.1 502[^]*content-type: text\/html/i, /<h1>502/, {}],
  ['a page with 200', { type: 'html', status: 200 }, /^HTTP\/1.1 200/, /<!DOCTYPE html>/, {}],
  ['a page with 404', { type: 'html', status: 404 }, /^HTTP\/1.1 404/, /<h1>404/, {}],
  ['an error after the work', { type: 'error-after' }, /^HTTP\/1.1 500/, /"status":500/, { done: true }],
  ['silence, not done', { type: 'hang' }, NOTHING, NOTHING, { end: 'open' }],
  ['silence, done', { type: 'hang', done: true }, NOTHING, NOTHING, { done: true, end: 'open' }],
  ['sent elsewhere', { type: 'redirect' }, /^HTTP\/1.1 307[^]*location: \/elsewhere\r/i, NOTHING, {}],
]

test.each(ROWS)('%s', async (_why, fault, head, body, { done = false, end = 'closed' }) => {
  await using sandbox = await givenSandbox({
    now: () => Date.parse('2026-03-01T12:00:00.000Z'),
    faults: { rules: [{ operation: 'createPipe', fault }] },
  })
  const isSilent = end === 'open'
  const next = () => ask(sandbox, PIPES, { body: ORDERS })
  const isAnswered = async () => {
    await expect.poll(() => sandbox.requests()[0]?.answer, { interval: 5 }).toBeDefined()
    await next()
  }
  // Of silence, nothing has come when the next request is answered.
  const until = isSilent ? isAnswered() : undefined
  const seen = await speak(sandbox.url, { body: JSON.stringify(ORDERS), until })
  const split = seen.text.indexOf('\r\n\r\n')
  const shown = split < 0 ? [seen.text, ''] : [seen.text.slice(0, split + 2), seen.text.slice(split + 4)]
  expect(seen.end).toBe(end)
  expect(shown[0]).toMatch(head)
  expect(shown[1]).toMatch(body)
  expect(sandbox.pipes()).toHaveLength(Number(done) + Number(isSilent))
  expect(sandbox.requests()[0]?.answer).toMatchObject({ fault: fault.type, done })
  expect((await next()).status).toBe(200) // the rule was for one request
})

test('half a body announces the whole length', async () => {
  await using sandbox = await givenSandbox({ faults: { rules: [{ fault: { type: 'half-body' } }] } })
  const { text } = await speak(sandbox.url, { body: JSON.stringify(ORDERS) })
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
  expect(text.length - text.indexOf('\r\n\r\n') - 4).toBe(Math.floor(length / 2))
})

test('a request that is held up shows at once, and its work comes later', async () => {
  await using sandbox = await givenSandbox({ faults: { rules: [{ fault: { type: 'latency', ms: 1_000 } }] } })
  const reply = ask(sandbox, PIPES, { body: ORDERS })
  await expect.poll(() => sandbox.requests().length, { interval: 5 }).toBe(1)
  expect(sandbox.requests()[0]?.answer).toBeUndefined()
  expect(sandbox.pipes()).toHaveLength(0)
  expect((await reply).status).toBe(200)
  expect(sandbox.requests()[0]?.answer).toEqual({ status: 200, fault: 'latency', done: true })
})

test('a fault after the work does not undo a refusal: no resource is created with wrong credentials', async () => {
  await using sandbox = await givenSandbox({ faults: { rules: [{ fault: { type: 'error-after' } }] } })
  const headers = { authorization: 'Basic bm86bm8=' }
  expect((await ask(sandbox, PIPES, { body: ORDERS, headers })).status).toBe(500)
  expect(sandbox.pipes()).toHaveLength(0)
})

test('an alert can lose its id, too', async () => {
  await using sandbox = await givenSandbox({ faults: { rules: [{ fault: { type: 'no-id' } }] } })
  const { body } = await ask(sandbox, '/api/v2/alerts/alert-1')
  expect(body.data).toMatchObject({ name: 'Ingest lag' })
  expect(body.data).not.toHaveProperty('id')
})

test('closing ends hanging and late requests at once', async () => {
  const sandbox = await givenSandbox({
    faults: {
      rules: [
        { operation: 'createPipe', fault: { type: 'hang' } },
        { operation: 'upsertQueryEndpoint', fault: { type: 'latency', ms: 60_000 } },
      ],
    },
  })
  const timers = timersOf()
  const hanging = speak(sandbox.url, { body: JSON.stringify(ORDERS) })
  const late = speak(sandbox.url, { body: '{}', path: ENDPOINT })
  await expect.poll(() => sandbox.requests().length, { interval: 5, timeout: 60_000 }).toBe(2)
  await sandbox[Symbol.asyncDispose]()
  const ends = await Promise.all([hanging, late])
  expect(ends.map(({ end }) => end)).not.toContain('open')
  expect(timersOf()).toBeLessThanOrEqual(timers) // the late one is not waited for
  await sandbox[Symbol.asyncDispose]() // a second time is no fault
})

function timersOf(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}
