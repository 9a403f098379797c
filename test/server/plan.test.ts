import { describe, expect, it } from 'vitest'
import type { FileTree, Plan } from '../../src/contract/plan.ts'
import type { Planner } from '../../src/server/parts.ts'
import { fakeParts } from './fake-parts.ts'
import { ask, running } from './running.ts'

const TOKEN = 'the-admin-token'
const RIGHT = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-ndjson' }
const HEAD = '{"revision":{"id":"abc","from":"git"},"manifests":"here"}'
const FILE = '{"file":"a.yaml","text":"kind: Pipe\\n"}'

const EMPTY: Plan = {
  revision: 'abc',
  manifests: '',
  problem: undefined,
  createLimit: { wanted: 0, limit: 25, reached: false, services: [] },
  missingLedger: undefined,
  checkedBefore: { items: 0, oldestMs: 0 },
  counts: { failed: 0, refused: 0, change: 0, waits: 0, attention: 0, held: 0, unchanged: 0 },
  items: [],
  findings: [],
}

/** One that remembers what it was asked. */
function fakePlanner(until: Promise<void> = Promise.resolve()) {
  const asked: FileTree[] = []
  const planner: Planner = {
    adminToken: async () => TOKEN,
    async plan(tree) {
      asked.push(tree)
      await until
      return { is: 'plan', plan: EMPTY }
    },
  }
  return { planner, asked }
}

async function post(planner: Planner | undefined, body: string, headers: Record<string, string> = RIGHT) {
  const { url } = await running(fakeParts({ planner }))
  return ask(`${url}/api/v1/plan`, { method: 'POST', headers, body })
}

function filesUpTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `{"file":"${number}.yaml","text":""}`)
}

describe('POST /api/v1/plan', () => {
  it('hands over the files as they were sent, and answers with the plan', async () => {
    const { planner, asked } = fakePlanner()
    const bytes = Buffer.from([0xff, 0x00, 0x0a])
    const binary = JSON.stringify({ file: 'b.yaml', base64: bytes.toString('base64') })
    const { status, body } = await post(planner, [HEAD, FILE, binary].join('\n'))
    expect([status, body['revision'], body['manifests']]).toEqual([200, 'abc', 'here'])
    expect(asked[0]).toMatchObject({ revision: { id: 'abc', from: 'git' }, unread: [], findings: [] })
    expect(asked[0]?.files.map(({ file }) => file)).toEqual(['a.yaml', 'b.yaml'])
    expect(asked[0]?.files[0]?.bytes.toString()).toBe('kind: Pipe\n')
    expect(asked[0]?.files[1]?.bytes.equals(bytes)).toBe(true)
  })

  it('is off without an admin token, and says how to switch it on', async () => {
    const { status, body } = await post(undefined, HEAD)
    expect(status).toBe(404)
    expect(body['hint']).toContain('--admin-token-file')
  })

  it.each([
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer wrong' }],
  ])('lets nobody in with %s', async (_, headers) => {
    const { planner, asked } = fakePlanner()
    expect((await post(planner, HEAD, { ...RIGHT, authorization: '', ...headers })).status).toBe(401)
    expect(asked).toEqual([])
  })

  it.each([
    ['nothing', '', 400],
    ['no JSON', 'secret: hunter2', 400],
    ['no revision', '{}', 400],
    ['a file without a name', `${HEAD}\n{"text":"x"}`, 400],
    ['a file without content', `${HEAD}\n{"file":"a.yaml"}`, 400],
    ['a path that leaves the directory', `${HEAD}\n{"file":"../a.yaml","text":""}`, 400],
    ['a line without end', `${HEAD}\n${'x'.repeat(9 * 1024 * 1024)}`, 413],
    ['more files than a reading may have', [HEAD, ...filesUpTo(20_001)].join('\n'), 413],
    ['a file that is there twice', [HEAD, FILE, FILE].join('\n'), 400],
    ['a hidden file', `${HEAD}\n{"file":".a.yaml","text":""}`, 400],
    ['a path with an empty part', `${HEAD}\n{"file":"a//b.yaml","text":""}`, 400],
    ['a path that is too long', `${HEAD}\n{"file":"${'x'.repeat(5_000)}","text":""}`, 400],
    ['bytes that are none', `${HEAD}\n{"file":"a.yaml","base64":"!!!!"}`, 400],
  ])('refuses %s, and repeats nothing of it', async (_, sent, expected) => {
    const { planner, asked } = fakePlanner()
    const { status, body } = await post(planner, sent)
    expect(status).toBe(expected)
    expect(JSON.stringify(body)).not.toContain('hunter2')
    expect(asked).toEqual([])
  })

  it('makes one plan at a time, and the next one after it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { planner, asked } = fakePlanner(promise)
    const { url } = await running(fakeParts({ planner }))
    const send = () => ask(`${url}/api/v1/plan`, { method: 'POST', headers: RIGHT, body: HEAD })
    const first = send()
    await expect.poll(() => asked.length).toBe(1)
    const second = await send()
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '10'])
    resolve()
    expect((await first).status).toBe(200)
    expect((await send()).status).toBe(200)
  })
})
