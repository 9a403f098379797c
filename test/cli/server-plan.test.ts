import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { createWorkspace } from '../support/workspace.ts'

/* A server that answers otherwise than a daemon of this version that has time. */

const PLAN = {
  revision: 'abc',
  manifests: 'manifests',
  createLimit: { wanted: 0, limit: 25, reached: false, services: [] },
  missingLedger: undefined,
  checkedBefore: { items: 0, oldestMs: 0 },
  counts: {},
  items: [],
  findings: [],
}
const ITEM = {
  key: 'Pipe/a',
  action: 'observe',
  reason: 'InSync',
  verdict: 'unchanged',
  message: '',
  outline: {},
  after: [],
  gives: [],
  takesAway: [],
  uncheckedSecrets: [],
  differences: [],
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

async function planFrom(...answers: readonly Answer[]) {
  const left = [...answers]
  const server = createServer((request, response) => {
    request.resume()
    const { status, body } = left.shift() ?? { status: 500, body: {} }
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0.01' })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  using workspace = createWorkspace()
  workspace.write('token', 'the-token')
  workspace.write('manifests/.keep', '')
  try {
    const token = ['--admin-token-file', workspace.path('token')]
    return await runHere([
      'plan',
      '--server',
      url,
      '--manifests',
      workspace.path('manifests'),
      ...token,
      '-o',
      'json',
    ])
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

test.each([
  ['is no plan', {}],
  ['lacks what an older version did not say', { ...PLAN, checkedBefore: undefined }],
  ['has a verdict of a later version', { ...PLAN, items: [{ ...ITEM, verdict: 'postponed' }] }],
])('a reply that %s ends with 1, and says to use one version', async (_, body) => {
  const { code, stdout, stderr } = await planFrom({ status: 200, body })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('is not a plan of this version')
})

test('while another plan is made, it is asked again, as the server says when', async () => {
  const busy = { status: 429, body: { error: 'another plan is being made' } }
  const { code, stdout } = await planFrom(busy, busy, { status: 200, body: { ...PLAN, items: [ITEM] } })
  expect([code, JSON.parse(stdout)]).toEqual([0, { ...PLAN, items: [ITEM] }])
})

test('what a server says reaches the terminal without its control characters', async () => {
  const { stderr } = await planFrom({ status: 500, body: { error: 'boom\u001b[31m\u0007' } })
  expect(stderr).toContain('boom')
  // eslint-disable-next-line no-control-regex -- they are what it is about
  expect(stderr).not.toMatch(/[\u001b\u0007]/)
})
