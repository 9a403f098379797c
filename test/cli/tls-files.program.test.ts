import { readFileSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createAuthority } from '../slow/support/authority.ts'
import { liveOf } from '../support/live.ts'
import { mountSecrets, runArgs, SERVICE } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { startProgram, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/* What cannot be used is said at the start, before anything is asked. */

const PLATFORM = ['--base-url', 'https://api.example.com']

async function said(args: readonly string[]) {
  using workspace = createWorkspace()
  using one = createAuthority('one')
  using two = createAuthority('two')
  workspace.write('one.pem', one.cert)
  workspace.write('two.key', two.key)
  workspace.write('nothing.pem', 'nothing of use')
  const found = args.map((arg) => (/\.(pem|key)$/.test(arg) ? workspace.path(arg) : arg))
  const ledger = ['--ledger', `sqlite:${workspace.path('ledger.db')}`, '--manifests', workspace.manifests]
  return await runHere(['apply', ...PLATFORM, ...ledger, ...found])
}

test.each([
  ['it cannot be read (ENOENT)', ['--ca-file', 'absent.pem']],
  ['it holds no certificate in PEM', ['--ca-file', 'nothing.pem']],
  ['it holds no private key in PEM', ['--client-cert-file', 'one.pem', '--client-key-file', 'nothing.pem']],
  ['it is not the key of the certificate', ['--client-cert-file', 'one.pem', '--client-key-file', 'two.key']],
])('%s', async (why, args) => {
  const { code, stderr } = await said(args)
  expect(code).toBe(64)
  expect(stderr).toContain(`${args.at(-2)} `)
  expect(stderr).toContain(why)
})

test('a file that becomes bad while the daemon runs is said once, and again when it does so again', async () => {
  using workspace = createWorkspace()
  using authority = createAuthority('platform.example')
  workspace.write('ca.pem', readFileSync(authority.file, 'utf8'))
  mountSecrets(workspace)
  const manifest = (revision: number) =>
    workspace.write('manifests/service.yaml', `${SERVICE}\n# ${revision}\n`)
  manifest(0)
  const args = runArgs(workspace, 'http://127.0.0.1:9', ['--ca-file', workspace.path('ca.pem')])
  await using program = startProgram(args)
  const live = liveOf(program, await urlOf(program))
  const warnings = () => program.log().filter(({ msg }) => msg === 'TLS files cannot be used')
  await live.reads(() => manifest(1))
  workspace.write('ca.pem', 'nothing of use')
  await live.reads(() => manifest(2))
  await until('the warning', () => warnings().length === 1)
  await live.reads(() => manifest(3))
  workspace.write('ca.pem', readFileSync(authority.file, 'utf8'))
  await live.reads(() => manifest(4))
  rmSync(workspace.path('ca.pem'))
  await live.reads(() => manifest(5))
  await until('the second warning', () => warnings().length > 1)
  expect(warnings().map(({ level, detail }) => [level, detail])).toEqual([
    [
      'warn',
      expect.stringMatching(
        /^--ca-file .*: it holds no certificate in PEM\. New connections use the earlier content of the file/,
      ),
    ],
    ['warn', expect.stringMatching(/^--ca-file .*: it cannot be read \(ENOENT\)\. /)],
  ])
  await live.stop()
})
