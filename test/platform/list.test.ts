import { describe, expect, test } from 'vitest'
import { PIPE as PIPE_KIND } from '../../src/kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import {
  access,
  admitOptions,
  createRequest,
  failure,
  ORGANIZATION,
  PIPE,
  platform,
  readOptions,
  SERVICE,
} from './support/platform.ts'
import { httpServer } from './support/server.ts'

/* All pipes of a service in one request, where a service offers that (design §14). */

const PATH = `/v1/organizations/${ORGANIZATION}/services/${SERVICE}/clickpipes`
const REQUEST_ID = '0c8d5a55-9d0f-4a3e-9c67-1f1f3e0a8a11'

function reply(result: unknown): string {
  return JSON.stringify({ status: 200, requestId: REQUEST_ID, result })
}

describe('a list', () => {
  test('is one GET, whose items are taken as they came', async () => {
    const items = [{ id: PIPE, name: 'orders', state: null, source: null, new: 1 }, { id: 'b' }]
    await using server = await httpServer((response) => response.end(reply(items)))
    await using p = platform({ baseUrl: server.url })
    const { value, requestId } = await p.client.list(PIPE_KIND, access, readOptions())
    expect(value).toEqual(items)
    expect(requestId).toBe(REQUEST_ID)
    expect(server.requests.map(({ method, url }) => [method, url])).toEqual([['GET', PATH]])
  })

  test.each([
    ['is no list', {}],
    ['is not there', undefined],
    ['has one without an id', [{ id: PIPE }, { name: 'orders' }]],
    ['has one with a name that is no text', [{ id: PIPE, name: 7 }]],
  ])('that %s is not understood', async (_, result) => {
    await using server = await httpServer((response) => response.end(reply(result)))
    await using p = platform({ baseUrl: server.url, idempotentRetries: 0 })
    const error = await failure(p.client.list(PIPE_KIND, access, readOptions()))
    expect(error.facts).toMatchObject({ class: 'BadReply', effect: 'none' })
  })

  test('may be longer than other replies', async () => {
    const items = Array.from({ length: 1_200 }, (_, index) => ({
      id: `pipe-${index}`,
      text: 'x'.repeat(5_000),
    }))
    await using server = await httpServer((response) => response.end(reply(items)))
    await using p = platform({ baseUrl: server.url })
    expect((await p.client.list(PIPE_KIND, access, readOptions())).value).toHaveLength(1_200)
  })

  test('before a create has a place of its own in the budget, and so has the look at what is replaced', async () => {
    await using server = await httpServer((response, request) => {
      const isList = request.method === 'GET' && request.url === PATH
      response.end(reply(isList ? [] : { id: PIPE, name: 'orders' }))
    })
    await using p = platform({ baseUrl: server.url, budget: { requests: 3, windowMs: 60_000 } })
    const permit = await p.client.admitCreate(PIPE_KIND, access, { ...admitOptions(), looks: 2 })
    expect((await permit.list(PIPE_KIND, readOptions())).value).toEqual([])
    const target = { kind: PIPE_KIND, service: access, id: PIPE }
    expect((await permit.read(target, readOptions())).value.id).toBe(PIPE)
    expect((await permit.send(createRequest('{}', 'intent-1'))).value.id).toBe(PIPE)
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST'])
    expect(p.client.budgets()).toMatchObject([{ used: 3 }])
  })
})
