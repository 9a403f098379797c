import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createOnceKindOf } from '../../src/kinds/profile.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/profiles.ts'
import { PIPE as PIPE_KIND } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import {
  access,
  admitOptions,
  createRequest,
  failure,
  ORGANIZATION,
  PIPE,
  facing,
  readOptions,
  SERVICE,
} from './support/platform.ts'
import { ODD } from '../../src/kinds/remote-resource.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/* All pipes of a service in one request, where a service offers that (design §14). */

const PATH = `/v1/organizations/${ORGANIZATION}/services/${SERVICE}/clickpipes`
const ITEM = { id: PIPE, name: 'orders' }
const UNREADABLE = { class: 'BadReply' }
const REQUEST_ID = '0c8d5a55-9d0f-4a3e-9c67-1f1f3e0a8a11'

function reply(result: unknown): string {
  return JSON.stringify({ status: 200, requestId: REQUEST_ID, result })
}

describe('a list', () => {
  test('is one GET, whose items are taken as they came', async () => {
    const items = [{ id: PIPE, name: 'orders', state: null, source: null, new: 1 }, { id: 'b' }]
    await using p = await facing((response) => response.end(reply(items)))
    const { value, requestId } = await p.client.list(PIPE_KIND, access, readOptions())
    expect(value).toEqual(items)
    expect(requestId).toBe(REQUEST_ID)
    expect(p.server.requests.map(({ method, url }) => [method, url])).toEqual([['GET', PATH]])
  })

  test('may be longer than other replies', async () => {
    const items = Array.from({ length: 1_200 }, (_, index) => ({
      id: `pipe-${index}`,
      text: 'x'.repeat(5_000),
    }))
    await using p = await facing((response) => response.end(reply(items)))
    expect((await p.client.list(PIPE_KIND, access, readOptions())).value).toHaveLength(1_200)
  })

  test('before a create has a place of its own in the budget, and so has the look at what is replaced', async () => {
    await using p = await facing(
      (response, request) => {
        const isList = request.method === 'GET' && request.url === PATH
        response.end(reply(isList ? [] : ITEM))
      },
      { budget: { requests: 3, windowMs: 60_000 } },
    )
    const permit = await p.client.admitCreate(PIPE_KIND, access, { ...admitOptions(), looks: 2 })
    expect((await permit.list(PIPE_KIND, readOptions())).value).toEqual([])
    const target = { kind: PIPE_KIND, service: access, id: PIPE }
    expect((await permit.read(target, readOptions())).value.id).toBe(PIPE)
    expect((await permit.send(createRequest('{}', 'intent-1'))).value.id).toBe(PIPE)
    expect(p.server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST'])
    expect(p.client.budgets()).toMatchObject([{ used: 3 }])
  })

  test('without a place of its own uses that of the create; a pause of the platform is no wait for a place', async () => {
    const clock = createFakeClock()
    const budget = { requests: 2, windowMs: 60_000 }
    await using p = await facing(
      (response, { method }) => {
        if (method === 'POST') response.writeHead(429, { 'retry-after': '900' })
        response.end(reply([]))
      },
      { budget, clock },
    )
    const permit = await p.client.admitCreate(PIPE_KIND, access, { ...admitOptions(), looks: 0 })
    const other = await p.client.admitCreate(PIPE_KIND, access, { ...admitOptions(), looks: 0 })
    expect(permit).toMatchObject({ lookCostsMs: 61_200, waitedMs: 0 })
    const listed = permit.list(PIPE_KIND, readOptions())
    await clock.settle()
    expect(p.client.budgets()).toMatchObject([{ waiting: 1 }])
    expect((await failure(other.send(createRequest('{}', 'intent-1')))).facts.class).toBe('Throttled')
    await clock.advance(899_000)
    expect(p.client.budgets()).toMatchObject([{ waiting: 1 }])
    await clock.advance(2_000)
    expect((await listed).value).toEqual([])
    expect(clock.monotonic()).toBeGreaterThan(900_000)
    expect(permit.waitedMs).toBe(61_200)
  })
})

describe('a list that', () => {
  const cases: readonly {
    readonly is: string
    readonly answer: (response: ServerResponse) => unknown
    /** By default it is a reply that cannot be understood, and was asked for three times. */
    readonly words?: RegExp
    readonly facts?: object
    readonly requests?: number
  }[] = [
    {
      is: 'is answered 429',
      answer: (response) => response.writeHead(429, { 'retry-after': '7' }).end(),
      facts: { class: 'Throttled', retryAfterMs: 7_000 },
      requests: 1,
      words: /Reading the pipes failed: .* answered 429, too many requests/,
    },
    {
      is: 'is answered 424',
      answer: (response) => response.writeHead(424).end(failed(424)),
      facts: { class: 'ServiceIdle' },
      requests: 1,
      words: /answered 424, the service is idle or still waking up/,
    },
    {
      is: "is answered with the platform's own 404",
      answer: (response) => response.writeHead(404).end(failed(404)),
      facts: { class: 'Missing' },
      requests: 1,
      words: /Reading the pipes failed: .* answered 404/,
    },
    {
      is: 'is larger than is taken',
      answer: (response) => {
        const part = Buffer.alloc(2 ** 20, 0x20)
        const go = () => {
          while (!response.destroyed) if (!response.write(part)) return void response.once('drain', go)
        }
        go()
      },
      words: /answered 200, but the reply is too large/,
    },
    {
      is: 'is an endless text, whole',
      answer: (response) => response.end(`<p title="${'x'.repeat(9 * 2 ** 20)}`),
    },
    ...[{}, undefined].map((result) => ({
      is: `is ${typeof result}`,
      answer: (response: ServerResponse) => response.end(reply(result)),
    })),
    ...[{ status: 500 }, { status: 200, error: 'INTERNAL_ERROR: no' }].map((said) => ({
      is: `is empty and beside ${JSON.stringify(said)}`,
      answer: (response: ServerResponse) =>
        response.end(JSON.stringify({ requestId: REQUEST_ID, result: [], ...said })),
    })),
    {
      is: 'is cut half way',
      answer(response) {
        const text = reply([ITEM, ITEM])
        response.writeHead(200, { 'content-length': text.length })
        response.write(text.slice(0, text.length / 2), () => response.destroy())
      },
      words: /answered 200, but the connection was cut before the reply was complete/,
    },
    {
      is: 'ends half way, as if it were whole',
      answer: (response) => response.end(reply([ITEM, ITEM]).slice(0, 120)),
    },
  ]

  test.each(cases)(
    '$is, fails, and says why',
    async ({ answer, words = /200, but without the expected content/, facts = UNREADABLE, requests = 3 }) => {
      await using p = await facing(answer)
      const error = await failure(p.client.list(PIPE_KIND, access, readOptions()))
      expect(error.facts).toMatchObject({ ...facts, effect: 'none' })
      expect(error.message).toMatch(words)
      expect(p.server.requests).toHaveLength(requests)
    },
  )

  test.each([
    [999, 999],
    [1_000, expect.stringContaining('with at least 1000 alerts, so the list might not be complete')],
  ])(
    'has %i alerts, the most in one reply being 1000, is used whole or not at all',
    async (length, expected) => {
      await using p = await facing((response) => response.end(reply(Array.from({ length }, () => ITEM))))
      const kind = createOnceKindOf(CLICKHOUSE_CLOUD, 'Alert/lag')
      const listing = p.client.list(kind, access, readOptions())
      const result = await listing.then(
        ({ value }) => value.length,
        (error: unknown) => (error as Error).message,
      )
      expect(result).toEqual(expected)
    },
  )

  test('that is too large is neither parsed nor searched beyond its first part', async () => {
    await using p = await facing((response) => response.end('['.repeat(17 * 2 ** 20)))
    const { facts } = await failure(p.client.list(PIPE_KIND, access, readOptions()))
    expect(facts.reply?.reveal()).toBe('['.repeat(2 ** 16))
  })

  test.each([
    ['has one twice', [ITEM, ITEM]],
    ['has an id in capital letters', [{ ...ITEM, id: PIPE.toUpperCase() }]],
    ['has one without a name', [{ ...ITEM, name: null }, { id: PIPE }]],
  ])('%s, is taken as it came', async (_, items) => {
    await using p = await facing((response) => response.end(reply(items)))
    expect((await p.client.list(PIPE_KIND, access, readOptions())).value).toEqual(items)
  })
})

const AT_INDEX = { id: 'at index 1 of the list', name: 'orders', odd: ['id'] }
const NOTHING = { ...AT_INDEX, name: undefined, odd: undefined }
const ODD_STATE = { ...ITEM, odd: ['state'] }

test.each([
  { of: 'an object as a state', item: { ...ITEM, state: {} }, ...ODD_STATE },
  { of: 'a state of 65 KiB', item: { ...ITEM, state: 'x'.repeat(66_560) }, ...ODD_STATE },
  { of: 'a number as a name', item: { ...ITEM, name: 7 }, ...ITEM, name: undefined, odd: ['name'] },
  { of: 'a number as an id', item: { ...ITEM, id: 7 }, ...AT_INDEX },
  { of: 'no id', item: { name: 'orders' }, ...AT_INDEX },
  { of: 'an id of no letters', item: { ...ITEM, id: '' }, ...AT_INDEX },
  { of: 'nothing', item: null, ...NOTHING },
  { of: 'a text', item: 'x', ...NOTHING },
])('an item with $of is marked, and all others are as they are', async ({ item, id, name, odd }) => {
  const other = { id: 'b', name: 'other' }
  await using p = await facing((response) => response.end(reply([other, item, other])))
  const { value } = await p.client.list(PIPE_KIND, access, readOptions())
  expect(value.filter((each) => each[ODD] === undefined)).toEqual([other, other])
  const [marked] = value.filter((each) => each[ODD] !== undefined)
  expect([marked?.id, marked?.name, marked?.[ODD]]).toEqual([id, name, { index: 1, fields: odd }])
})

function failed(status: number): string {
  return JSON.stringify({ status, requestId: REQUEST_ID, error: 'no' })
}
