import { expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import { ask, ENDPOINT, givenSandbox, ORDERS, PIPES } from './given.ts'
import { speak, type Seen } from './wire.ts'

/** Long enough for anything that does come, short enough for what never does. */
const GIVE_UP_MS = 1_000

interface Row {
  readonly why: string
  readonly fault: FaultInput
  /** Whether the work is done; it is not unless given. */
  readonly done?: boolean
  /** It is closed unless given. */
  readonly end?: Seen['end']
  /** Of the status line and headers. */
  readonly head: RegExp
  readonly body: RegExp
}

const NOTHING = /^$/

const ROWS: readonly Row[] = [
  {
    why: 'late, but whole',
    fault: { type: 'latency', ms: 50 },
    done: true,
    head: /^HTTP\/1.1 200/,
    body: /"id":/,
  },
  {
    why: '429 with seconds',
    fault: { type: 'rate-limit', seconds: 7, header: 'retry-after' },
    head: /^HTTP\/1.1 429[^]*retry-after: 7\r/i,
    body: /"status":429/,
  },
  {
    why: '429 with a date',
    fault: { type: 'rate-limit', seconds: 30, header: 'retry-after-date' },
    head: /retry-after: Sun, 01 Mar 2026 12:00:30 GMT\r/i,
    body: /429/,
  },
  {
    why: '429 with the Unix time of the reset',
    fault: { type: 'rate-limit', seconds: 30, header: 'x-ratelimit-reset' },
    head: /x-ratelimit-reset: 1772366430\r/i,
    body: /429/,
  },
  {
    why: '429 with the seconds until the reset',
    fault: { type: 'rate-limit', seconds: 30, header: 'x-ratelimit-reset-in' },
    head: /x-ratelimit-reset: 30\r/i,
    body: /429/,
  },
  {
    why: '429 without a word of when',
    fault: { type: 'rate-limit', seconds: 30, header: 'none' },
    head: /^(?![^]*(retry-after|ratelimit))HTTP\/1.1 429/i,
    body: /429/,
  },
  ...[400, 401, 403, 404, 408, 409, 422, 424, 425, 500, 502, 503].map((status): Row => ({
    why: `a bare ${status}`,
    fault: { type: 'status', status },
    head: new RegExp(`^HTTP/1.1 ${status} `),
    body: /"requestId":.*"error":/,
  })),
  { why: 'reset before the work', fault: { type: 'reset' }, end: 'reset', head: NOTHING, body: NOTHING },
  { why: 'cut before the work', fault: { type: 'cut-before' }, head: NOTHING, body: NOTHING },
  { why: 'cut after the work', fault: { type: 'cut-after' }, done: true, head: NOTHING, body: NOTHING },
  {
    why: 'half a body',
    fault: { type: 'half-body' },
    done: true,
    head: /^HTTP\/1.1 200/,
    body: /^\{"status":200[^]*[^}]$/,
  },
  {
    why: 'a 200 without an id',
    fault: { type: 'no-id' },
    done: true,
    head: /^HTTP\/1.1 200/,
    body: /"result":\{"serviceId"/,
  },
  {
    why: 'a page of a proxy',
    fault: { type: 'html' },
    head: /^HTTP\/1.1 502[^]*content-type: text\/html/i,
    body: /<h1>502/,
  },
  {
    why: 'a page of a proxy that says 200',
    fault: { type: 'html', status: 200 },
    head: /^HTTP\/1.1 200/,
    body: /<!DOCTYPE html>/,
  },
  {
    why: 'a page of a proxy that says 404',
    fault: { type: 'html', status: 404 },
    head: /^HTTP\/1.1 404/,
    body: /<h1>404/,
  },
  {
    why: 'an error after the work',
    fault: { type: 'error-after' },
    done: true,
    head: /^HTTP\/1.1 500/,
    body: /"status":500/,
  },
  { why: 'silence, not done', fault: { type: 'hang' }, end: 'open', head: NOTHING, body: NOTHING },
  {
    why: 'silence, done',
    fault: { type: 'hang', done: true },
    done: true,
    end: 'open',
    head: NOTHING,
    body: NOTHING,
  },
  {
    why: 'sent elsewhere',
    fault: { type: 'redirect' },
    head: /^HTTP\/1.1 307[^]*location: \/elsewhere\r/i,
    body: NOTHING,
  },
  {
    why: 'three megabytes',
    fault: { type: 'huge', bytes: 3_000_000 },
    done: true,
    head: /content-length: 3\d{6}\r/i,
    body: /"padding":"x{3000000}"\}$/,
  },
]

test.each(ROWS)('$why', async ({ fault, done = false, end = 'closed', head, body }) => {
  await using sandbox = await givenSandbox({
    now: () => Date.parse('2026-03-01T12:00:00.000Z'),
    faults: { rules: [{ operation: 'createPipe', fault }] },
  })
  const giveUpMs = end === 'open' ? GIVE_UP_MS : 10_000
  const seen = await speak(sandbox.url, { body: JSON.stringify(ORDERS), giveUpMs })
  const split = seen.text.indexOf('\r\n\r\n')
  const shown = split < 0 ? [seen.text, ''] : [seen.text.slice(0, split + 2), seen.text.slice(split + 4)]
  expect(seen.end).toBe(end)
  expect(shown[0]).toMatch(head)
  expect(shown[1]).toMatch(body)
  expect(sandbox.pipes()).toHaveLength(done ? 1 : 0)
  expect(sandbox.requests()[0]?.answer).toMatchObject({ fault: fault.type, done })

  const after = await ask(sandbox, PIPES, { body: ORDERS })
  expect(after.status).toBe(200) // the rule was for one request
})

test('half a body announces the whole length', async () => {
  await using sandbox = await givenSandbox({ faults: { rules: [{ fault: { type: 'half-body' } }] } })
  const { text } = await speak(sandbox.url, { body: JSON.stringify(ORDERS), giveUpMs: 10_000 })
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
  const hanging = speak(sandbox.url, { body: JSON.stringify(ORDERS), giveUpMs: 60_000 })
  const late = speak(sandbox.url, { body: '{}', path: ENDPOINT, giveUpMs: 60_000 })
  await expect.poll(() => sandbox.requests().length, { interval: 5, timeout: 60_000 }).toBe(2)
  await sandbox.close()
  const ends = await Promise.all([hanging, late])
  expect(ends.map(({ end }) => end)).not.toContain('open')
  expect(timersOf()).toBeLessThanOrEqual(timers) // the late one is not waited for
  await sandbox.close() // a second time is no fault
})

function timersOf(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}
