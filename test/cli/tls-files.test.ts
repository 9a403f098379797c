import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { runProgram } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'

/* What cannot be used is said at the start, before anything is asked. */

const PLATFORM = ['--base-url', 'https://api.example.com']

async function said(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  using workspace = createWorkspace()
  const pem = (name: string) => workspace.path(name)
  const openssl = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ]
  for (const name of ['one', 'two']) {
    const files = ['-keyout', pem(`${name}.key`), '-out', pem(`${name}.pem`), '-subj', `/CN=${name}`]
    execFileSync('openssl', [...openssl, ...files], { stdio: 'ignore' })
  }
  workspace.write('nothing.pem', 'nothing of use')
  const found = args.map((arg) => (/\.(pem|key)$/.test(arg) ? pem(arg) : arg))
  const ledger = ['--ledger', `sqlite:${workspace.path('ledger.db')}`, '--manifests', workspace.manifests]
  return await runProgram(['apply', ...PLATFORM, ...ledger, ...found], { env })
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

test('a variable that is no proxy, without its value', async () => {
  const { code, stderr } = await said([], { HTTPS_PROXY: 'socks5://keeper:planted-4711@proxy.example:1080' })
  expect(code).toBe(64)
  expect(stderr).toContain('HTTPS_PROXY: a SOCKS proxy cannot be used')
  expect(stderr).not.toContain('planted')
})
