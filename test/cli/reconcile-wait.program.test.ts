import { expect, test } from 'vitest'
import { httpServer } from '../platform/support/server.ts'
import { runHere } from '../support/command.ts'
import { createWorkspace } from '../support/workspace.ts'

/* A daemon that ends, or comes back, while somebody waits for it. */

interface Answer {
  readonly status: number
  readonly body: object
}

/** Takes the request, and answers questions about it in order; after the last it is gone. */
function daemonThat(answers: readonly Answer[]) {
  const left = [...answers]
  return httpServer((response, { method }) => {
    const answer =
      method === 'POST' ? { status: 202, body: { token: 'tok-1', accepted: 'all' } } : left.shift()
    if (answer === undefined) response.destroy()
    else {
      const headers = { 'content-type': 'application/json' }
      response.writeHead(answer.status, headers).end(JSON.stringify(answer.body))
    }
  })
}

const PENDING = { status: 200, body: { token: 'tok-1', done: false, pending: 3 } }
const UNKNOWN = { status: 404, body: { error: 'no reconcile has this token', hint: 'Tokens are forgotten.' } }

test.each([
  ['stopped', [PENDING], 'does not answer'],
  ['restarted', [PENDING, UNKNOWN], 'no reconcile has this token'],
])('says that the daemon was %s', async (_, answers, said) => {
  using workspace = createWorkspace()
  await using daemon = await daemonThat(answers)
  workspace.write('token', 'planted-admin-token')
  const given = ['--server', daemon.url, '--admin-token-file', workspace.path('token')]
  const { code, stdout, stderr } = await runHere(['reconcile', '--wait', ...given])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(said)
})

test('waits for five minutes, as the help says', async () => {
  const { stdout } = await runHere(['reconcile', '--help'])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('wait at most this long. Default: 5m')
})
