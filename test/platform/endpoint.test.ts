import { describe, expect, test } from 'vitest'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/clickhouse-cloud/query-endpoint/kind.ts'
import type { Looks } from '../../src/contract/platform.ts'
import type { UpsertKind } from '../../src/kinds/definition.ts'
import { access, envelope, failure, ORGANIZATION, facing, readOptions, SERVICE } from './support/platform.ts'
import type { TestServer } from './support/server.ts'

/* The query endpoint of a service where it can be read and deleted (design §14): what goes out, and what a 404 is taken for. */

const kind = QUERY_ENDPOINT as unknown as UpsertKind // its schema alone is narrower
const PATH = `/v1/organizations/${ORGANIZATION}/services/${SERVICE}/serviceQueryEndpoint`
const target = { kind, service: access, id: SERVICE }
const THERE = envelope({ id: 'e1', roles: [], openApiKeys: [], allowedOrigins: '' })
const DELETED = envelope(undefined)
const nothing = async () => undefined

function linesOf({ requests }: TestServer): readonly string[] {
  return requests.map(({ method, url }) => `${method} ${url === PATH ? '' : url}`.trim())
}

test('it is read with one GET, under the path of the service', async () => {
  await using p = await facing((response) => response.end(THERE))
  expect((await p.client.read(target, readOptions())).value).toMatchObject({ id: 'e1' })
  expect(linesOf(p.server)).toEqual(['GET'])
})

test('it is deleted with one DELETE, without a body, after a look', async () => {
  await using p = await facing((response, request) =>
    response.end(request.method === 'GET' ? THERE : envelope(undefined)),
  )
  await p.client.remove(
    target,
    async (looks) => void (await looks.read(target, readOptions())),
    readOptions(),
  )
  expect(linesOf(p.server)).toEqual(['GET', 'DELETE'])
  expect(p.server.requests.at(-1)?.headers).not.toHaveProperty('content-type')
})

test('what speaks against it when it may be sent keeps it from being sent', async () => {
  await using p = await facing((response) => response.end(THERE))
  const outdated = new Error('decided anew')
  await expect(p.client.remove(target, () => Promise.reject(outdated), readOptions())).rejects.toBe(outdated)
  expect(linesOf(p.server)).toEqual([])
})

test.each([
  ['an error', JSON.stringify({ status: 200, error: 'INTERNAL_ERROR: no' })],
  ['the status of an error', JSON.stringify({ status: 500 })],
])('a reply with status 200 and %s is no answer to a change', async (_, body) => {
  await using p = await facing((response) => response.end(body))
  const { facts } = await failure(p.client.remove(target, nothing, readOptions()))
  expect(facts).toMatchObject({ class: 'BadReply', effect: 'unknown' })
})

describe('a 404', () => {
  const rows = [
    { why: 'of the platform', body: envelope(null, 404), is: 'Missing', attempts: 1 },
    { why: 'of a proxy', body: '<html>Not Found</html>', is: 'Unavailable', attempts: 3 },
  ] as const

  test.each(rows.flatMap((row) => (['read', 'remove'] as const).map((to) => ({ ...row, to }))))(
    '$why to $to is $is',
    async ({ body, is, attempts, to }) => {
      await using p = await facing((response) => response.writeHead(404).end(body))
      const read = () => p.client.read(target, readOptions())
      const remove = () => p.client.remove(target, nothing, readOptions())
      expect((await failure({ read, remove }[to]())).facts.class).toBe(is)
      expect(p.server.requests).toHaveLength(attempts)
      // What was read before is from a cache.
      expect((await failure(read())).facts.class).toBe(to === 'read' ? 'Unavailable' : is)
    },
  )
})

test.each([
  ['an upsert', 2, ['GET', 'POST']],
  ['a deletion', 3, ['GET', 'GET', 'DELETE']],
] as const)('the looks before %s have places that were taken with it', async (_, requests, lines) => {
  await using p = await facing(
    (response, { method }) => response.end(method === 'DELETE' ? DELETED : THERE),
    { budget: { requests, windowMs: 60_000 } },
  )
  const end = new AbortController()
  const look = async (looks: Looks) => {
    for (let left = requests - 1; left > 0; left -= 1) {
      await looks.read(target, readOptions())
      // Another request must not get the place of the change.
      p.client.read(target, { ...readOptions(), signal: end.signal }).catch(() => undefined)
    }
    return '{}'
  }
  if (requests === 2) await p.client.upsert(kind, access, look, readOptions())
  else await p.client.remove(target, async (looks) => void (await look(looks)), readOptions())
  expect(linesOf(p.server)).toEqual(lines)
  expect(p.client.budgets()).toMatchObject([{ used: requests }])
  end.abort()
})
