import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { formatProblems } from '../../src/config/setting-sources.ts'
import { readSettings } from '../../src/config/settings.ts'

const PLATFORM = { 'base-url': 'https://api.example.com' }

async function read(env: Readonly<Record<string, string>>, flags: Readonly<Record<string, string>>) {
  return readSettings({ flags, env, needs: 'platform', readFile: async () => '' })
}

async function problemsIn(...asked: Parameters<typeof read>): Promise<string> {
  const reading = await read(...asked)
  return 'problems' in reading ? formatProblems(reading.problems) : ''
}

async function proxiesOf(env: Readonly<Record<string, string>>) {
  const reading = await read(env, PLATFORM)
  if ('problems' in reading) throw new Error(formatProblems(reading.problems))
  return reading.settings.proxies
}

test('each variable is read, in lower case first, and an empty one is none', async () => {
  const found = await proxiesOf({
    HTTPS_PROXY: 'http://upper.example:1',
    https_proxy: 'http://lower.example:2',
    HTTP_PROXY: 'plain.example:3',
    http_proxy: ' ',
    NO_PROXY: 'localhost, .svc  10.0.0.0/8,',
  })
  expect(found.https).toMatchObject({ origin: 'http://lower.example:2', from: 'https_proxy' })
  expect(found.http).toMatchObject({ origin: 'http://plain.example:3', from: 'HTTP_PROXY' })
  expect(found.noProxy).toEqual(['localhost', '.svc', '10.0.0.0/8'])
})

test('user and password are decoded, and cannot be printed', async () => {
  const { https } = await proxiesOf({ HTTPS_PROXY: 'http://keeper:p%40ss-planted@proxy.example:3128' })
  expect(https?.origin).toBe('http://proxy.example:3128')
  expect(https?.authorization?.reveal()).toBe(
    `Basic ${Buffer.from('keeper:p@ss-planted').toString('base64')}`,
  )
  expect(`${inspect(https, { depth: 9 })}${JSON.stringify(https)}`).not.toMatch(/planted|a2VlcGVy/)
})

test('what stands alone before the host is a token, and a secret', async () => {
  const { https } = await proxiesOf({ HTTPS_PROXY: 'http://planted%2Dtoken@proxy.example:3128' })
  expect(https?.secrets.map((secret) => secret.reveal())).toEqual(
    expect.arrayContaining(['planted-token', 'planted%2Dtoken']),
  )
})

test.each([
  ['a SOCKS proxy cannot be used', 'socks5://keeper:planted@proxy.example:1080'],
  ['it is not an http or https URL', 'ftp://keeper:planted@proxy.example'],
  ['it is not a URL', 'http://keeper:planted@proxy example'],
  ['its user or password is not URL-encoded', 'http://keeper:planted%zz@proxy.example'],
  // What is read as host and port is the beginning of the login.
  ['its user or password is not URL-encoded', 'http://planted:4711/word@proxy.example:3128'],
  ['its user or password is not URL-encoded', 'planted:4711#word@proxy.example:3128'],
  ['its user or password is not URL-encoded', 'http://planted?word@proxy.example:3128'],
])('%s, and its value is not shown', async (why, text) => {
  const said = await problemsIn({ HTTPS_PROXY: text }, PLATFORM)
  expect(said).toContain(`HTTPS_PROXY: ${why}`)
  expect(said).not.toContain('planted')
})

test.each([
  ['no platform is named', {}, {}],
  ['it is reached without a proxy', { NO_PROXY: 'example.com' }, PLATFORM],
  ['it is on this machine', {}, { 'base-url': 'https://127.0.0.1:8443' }],
  ['it is of the other scheme', {}, { 'base-url': 'http://127.0.0.1:8080' }],
])('a variable that is no proxy is no matter where %s', async (_why, env, flags) => {
  const said = await problemsIn({ HTTPS_PROXY: 'socks5://proxy.example:1080', ...env }, flags)
  expect(said).not.toContain('HTTPS_PROXY')
})

test('a client certificate and its key go together', async () => {
  expect(await problemsIn({ PIPEWRIGHT_CLIENT_CERT_FILE: '/tls/client.pem' }, PLATFORM)).toContain(
    'it is given without --client-key-file',
  )
})
