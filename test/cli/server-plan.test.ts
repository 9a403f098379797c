import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { httpServer } from '../platform/support/server.ts'
import { runHere } from '../support/command.ts'
import { createWorkspace } from '../support/workspace.ts'

/* A server that answers otherwise than a daemon of this version. */

const PLAN = {
  revision: 'abc',
  manifests: 'manifests',
  createLimit: { wanted: 0, limit: 25, refused: 0 },
  missingLedger: undefined,
  checkedBefore: { items: 0, oldestMs: 0 },
  counts: {},
  items: [],
  findings: [],
}
interface Answer {
  readonly status: number
  readonly body: unknown
}

async function planFrom({ status, body }: Answer, manifest = Buffer.from('')) {
  await using server = await httpServer((response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  )
  using workspace = createWorkspace()
  workspace.write('token', 'the-token')
  writeFileSync(workspace.path('manifests/a.yaml'), manifest)
  const flags = ['--manifests', workspace.path('manifests'), '--admin-token-file', workspace.path('token')]
  return await runHere(['plan', '--server', server.url, ...flags, '-o', 'json'])
}

test.each([
  ['is no plan', {}],
  ['lacks what an older version did not say', { ...PLAN, checkedBefore: undefined }],
  ['has a verdict of a later version', { ...PLAN, items: [{ action: 'observe', verdict: 'postponed' }] }],
])('a reply that %s ends with 1, and says to use one version', async (_, body) => {
  const { code, stdout, stderr } = await planFrom({ status: 200, body })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('is not a plan of this version')
})

test('a file that a request cannot hold ends plan with 1', async () => {
  const { code, stderr } = await planFrom({ status: 200, body: PLAN }, Buffer.from([0xff]))
  expect([code, stderr]).toEqual([1, expect.stringMatching(/a\.yaml is not UTF-8\.\n$/)])
})

test('what a server says reaches the terminal without its control characters', async () => {
  const { stderr } = await planFrom({ status: 500, body: { error: 'boom\u001b[31m\u0007' } })
  expect(stderr).toContain('boom')
  // eslint-disable-next-line no-control-regex -- they are what it is about
  expect(stderr).not.toMatch(/[\u001b\u0007]/)
})
