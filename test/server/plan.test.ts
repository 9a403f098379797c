import { describe, expect, it } from 'vitest'
import { MAX_PLAN_BYTES, type Plan, type PlanRequest } from '../../src/contract/plan.ts'
import type { Operator } from '../../src/server/parts.ts'
import { fakeOperator, fakeParts } from './fake-parts.ts'
import { ask, running } from './running.ts'

const TOKEN = 'the-admin-token'
const RIGHT = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
const REQUEST = {
  revision: { id: 'abc', from: 'git' },
  manifests: 'here',
  files: { 'a.yaml': 'kind: Pipe\n', 'b/c.yaml': '' },
} as const

const EMPTY: Plan = {
  revision: 'abc',
  manifests: '',
  problem: undefined,
  createLimit: { wanted: 0, limit: 25, refused: 0 },
  missingLedger: undefined,
  checkedBefore: { items: 0, oldestMs: 0 },
  counts: { failed: 0, refused: 0, change: 0, waits: 0, attention: 0, held: 0, unchanged: 0 },
  items: [],
  findings: [],
}

/** One that remembers what it was asked. */
function fakePlanner(until: Promise<void> = Promise.resolve()) {
  const asked: PlanRequest[] = []
  const planner: Partial<Operator> = {
    adminToken: async () => TOKEN,
    async plan(request) {
      asked.push(request)
      await until
      return EMPTY
    },
  }
  return { planner, asked }
}

async function post(
  planner: Partial<Operator> | undefined,
  body: unknown,
  headers: Record<string, string> = RIGHT,
) {
  const { url } = await running(fakeParts(planner && { operator: fakeOperator(planner) }))
  return ask(`${url}/api/v1/plan`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

function withFile(file: string, text: unknown = '') {
  return { ...REQUEST, files: { [file]: text } }
}

describe('POST /api/v1/plan', () => {
  it('hands over the files as they were sent, and answers with the plan', async () => {
    const { planner, asked } = fakePlanner()
    const { status, body } = await post(planner, REQUEST)
    expect([status, body['revision']]).toEqual([200, 'abc'])
    expect(asked).toEqual([REQUEST])
  })

  it('is off without an admin token, and says how to switch it on', async () => {
    const { status, body } = await post(undefined, REQUEST)
    expect(status).toBe(404)
    expect(body['hint']).toContain('--admin-token-file')
  })

  it.each([
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer wrong' }],
  ])('lets nobody in with %s', async (_, headers) => {
    const { planner, asked } = fakePlanner()
    expect((await post(planner, REQUEST, { ...RIGHT, authorization: '', ...headers })).status).toBe(401)
    expect(asked).toEqual([])
  })

  it.each([
    ['nothing', '', 400],
    ['no JSON', 'secret: hunter2', 400],
    ['no revision', { files: {} }, 400],
    ['a file without a name', withFile(''), 400],
    ['a file without a text', withFile('a.yaml', 1), 400],
    ['a path that leaves the directory', withFile('../a.yaml'), 400],
    ['an absolute path', withFile('/a.yaml'), 400],
    ['a hidden file', withFile('.a.yaml'), 400],
    ['a path with an empty part', withFile('a//b.yaml'), 400],
    ['more than the limit', withFile('a.yaml', 'x'.repeat(MAX_PLAN_BYTES)), 413],
  ])('refuses %s, and repeats nothing of it', async (_, sent, expected) => {
    const { planner, asked } = fakePlanner()
    const { status, body } = await post(planner, sent)
    expect(status).toBe(expected)
    expect(JSON.stringify(body)).not.toContain('hunter2')
    expect(JSON.stringify(body)).toContain(expected === 413 ? ' 16777216 bytes' : 'hint')
    expect(asked).toEqual([])
  })

  it('makes one plan at a time, and the next one after it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { planner, asked } = fakePlanner(promise)
    const { url } = await running(fakeParts(planner && { operator: fakeOperator(planner) }))
    const send = () =>
      ask(`${url}/api/v1/plan`, { method: 'POST', headers: RIGHT, body: JSON.stringify(REQUEST) })
    const first = send()
    await expect.poll(() => asked.length).toBe(1)
    const second = send()
    await new Promise((settle) => setImmediate(settle))
    expect(asked.length).toBe(1)
    resolve()
    expect([(await first).status, (await second).status, asked.length]).toEqual([200, 200, 2])
  })
})
