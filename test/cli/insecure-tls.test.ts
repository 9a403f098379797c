import { expect, test } from 'vitest'
import { runHere } from '../support/command.ts'
import { createWorkspace } from '../support/workspace.ts'

/* Node obeys NODE_TLS_REJECT_UNAUTHORIZED=0 for every connection of the process: credentials would go to anybody. */

/** Nothing listens there, so that a command which is let through fails at once. */
const NOBODY = 'https://127.0.0.1:1'

async function run(command: readonly string[], env: Readonly<Record<string, string>>) {
  using workspace = createWorkspace()
  workspace.write('manifests/.keep', '')
  const ledger = ['--ledger', `sqlite:${workspace.path('ledger.db')}`]
  const args = [...command, '--manifests', workspace.manifests, ...ledger]
  const { code, stderr } = await runHere(args, env)
  return { code, said: stderr }
}

const OFF = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
const COMMANDS: readonly (readonly string[])[] = [
  ['run', '--base-url', NOBODY],
  ['apply', '--base-url', NOBODY],
  ['plan', '--base-url', NOBODY],
  ['plan', '--server', NOBODY],
  ['status', '--server', NOBODY],
  ['history', '--server', NOBODY],
  ['reconcile', '--server', NOBODY],
  ['import', 'Pipe/x', '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11', '--base-url', NOBODY],
]

test.each(COMMANDS)('%s %s %s does not send anything where no certificate is checked', async (...command) => {
  const { code, said } = await run(command, OFF)
  expect(code).toBe(64)
  expect(said).toContain('NODE_TLS_REJECT_UNAUTHORIZED "0": without certificate checks')
  expect(said).toContain('--ca-file')
  expect(said).toContain('--allow-insecure-tls')
})

test.each([
  ['by a flag', ['status', '--server', NOBODY, '--allow-insecure-tls'], OFF],
  ['by a variable', ['status', '--server', NOBODY], { ...OFF, PIPEWRIGHT_ALLOW_INSECURE_TLS: 'true' }],
])('it is allowed %s, and said once', async (_how, command, env) => {
  const { code, said } = await run(command, env)
  expect(code).not.toBe(64)
  expect(said.match(/no certificate is checked/g)).toHaveLength(1)
})

test.each([
  ['what talks to nobody', ['validate'], { ...OFF, PIPEWRIGHT_BASE_URL: NOBODY }],
  ['what talks to nobody over TLS', ['status', '--server', 'http://127.0.0.1:1'], OFF],
  [
    'certificates of an authority of one’s own',
    ['status', '--server', NOBODY],
    { NODE_EXTRA_CA_CERTS: '/dev/null' },
  ],
  [
    'a value that Node does not obey',
    ['status', '--server', NOBODY],
    { NODE_TLS_REJECT_UNAUTHORIZED: 'false' },
  ],
  ['what changes nothing', ['status', '--server', NOBODY, '--allow-insecure-tls'], {}],
])('%s is no matter', async (_what, command, env) => {
  const { code, said } = await run(command, env)
  expect(code).not.toBe(64)
  expect(said).not.toContain('no certificate')
})
