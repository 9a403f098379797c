import { afterEach, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { openClusterAccess } from '../../src/ledger/kubernetes/cluster-access.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* What of a kubeconfig is obeyed, and what is refused in words. Programs that log in are imitated. */

let workspace: Workspace
beforeEach(() => {
  workspace = createWorkspace()
})
afterEach(() => workspace[Symbol.dispose]())

type Members = Readonly<Record<string, unknown>>

const V1 = 'client.authentication.k8s.io/v1'
const NOW = Date.UTC(2026, 0, 1)
const EXEC = { apiVersion: V1, command: 'aws', interactiveMode: 'Never' }

function write(cluster: Members, user: Members | null, more: Members = {}): string {
  workspace.write(
    'kube/config',
    stringify({
      'current-context': 'here',
      clusters: [{ name: 'c', cluster: { server: 'https://api.test/', ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
      ...more,
    }),
  )
  return workspace.path('kube/config')
}

/** What a program prints, or how it fails. */
type Said = string | { readonly code?: string | number; readonly killed?: boolean; readonly stderr?: string }

/** A kubeconfig with a program that says one after the other; then the last again. */
async function byProgram(exec: Members, says: readonly Said[], cluster: Members = {}) {
  const runs: { readonly command: string; readonly args: readonly string[]; readonly env: Members }[] = []
  const env = { KUBECONFIG: write(cluster, { exec: { ...EXEC, ...exec } }), HOME: '/home/me', TOKEN: 'of us' }
  const access = await openClusterAccess(env, undefined, (command, args, given, done) => {
    runs.push({ command, args, env: given })
    const said = says[Math.min(runs.length, says.length) - 1] ?? ''
    setImmediate(() =>
      typeof said === 'string'
        ? done(null, said, 'a warning')
        : done(Object.assign(new Error('failed'), said), '', said.stderr ?? ''),
    )
  })
  return { runs, access, current: (now = NOW) => access.current(now) }
}

function credential(status: Members, apiVersion = V1): string {
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: {}, status })
}

test.each([
  ['as', { token: 'a', as: 'admin' }, 'a user "u" that Pipewright cannot use: as: it is not supported'],
  ['as-groups and as-uid', { token: 'a', 'as-groups': ['x'], 'as-uid': '1' }, 'as-groups, as-uid: it is not'],
  ['a user and a password', { username: 'u', password: 'planted' }, 'username, password: it is not'],
  ['auth-provider', { 'auth-provider': { name: 'gcp' } }, 'auth-provider: it is not supported'],
  ['a member of the future', { 'proof-of-work': 1 }, 'proof-of-work: it is not supported'],
  ['exec and a token', { exec: EXEC, token: 'a' }, 'both exec and a token'],
  ['an old exec', { exec: { ...EXEC, apiVersion: `${V1}alpha1` } }, 'exec.apiVersion: Invalid option'],
  ['exec without a program', { exec: { apiVersion: V1 } }, 'exec.command: Invalid input'],
  ['exec that asks a person', { exec: { ...EXEC, interactiveMode: 'Always' } }, 'has no terminal'],
  ['exec with a policy', { exec: { ...EXEC, policy: 'x' } }, 'policy: it is not supported'],
])('a user with %s is refused', async (_, user, words) => {
  const refused = openClusterAccess({ KUBECONFIG: write({}, user) })
  await expect(refused).rejects.toThrow(words)
  await expect(refused).rejects.not.toThrow('planted')
})

test.each([
  ['a proxy that is no URL', { 'proxy-url': 'proxy:3128' }, 'proxy-url: it is no http:, https: or socks5:'],
  ['an address as its name', { 'tls-server-name': '10.0.0.1' }, 'tls-server-name: it is not the name'],
  [
    'no checks and an authority',
    { 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'eA==' },
    'both',
  ],
  ['a member of the future', { 'mesh-url': 'x' }, 'mesh-url: it is not supported'],
])('a cluster with %s is refused', async (_, cluster, words) => {
  const refused = openClusterAccess({ KUBECONFIG: write(cluster, { token: 'a' }) })
  await expect(refused).rejects.toThrow(words)
})

test.each([
  ['without its context', { contexts: [] }, 'has no context "here", which current-context names'],
  ['without its cluster', { clusters: [] }, 'has no cluster "c", which the context "here" names'],
  ['without its user', { users: [] }, 'has no user "u", which the context "here" names'],
  ['without a context at all', { 'current-context': undefined }, 'is no kubeconfig: current-context'],
])('%s it is refused', async (_, more, words) => {
  await expect(openClusterAccess({ KUBECONFIG: write({}, {}, more) })).rejects.toThrow(words)
})

test('members without effect, without content, and of other entries are passed over', async () => {
  const other = { name: 'other', user: { username: 'x', 'auth-provider': {} } }
  const cluster = { 'disable-compression': true, extensions: [{ name: 'minikube', extension: {} }] }
  const me = { token: 'a', as: '', exec: null, extensions: [] }
  const file = write(cluster, me, { users: [other, { name: 'u', user: me }], preferences: {} })
  const access = await openClusterAccess({ KUBECONFIG: file })
  expect(access).toMatchObject({ server: 'https://api.test', namespace: 'default', proxy: undefined })
  expect(await access.current(NOW)).toEqual({ token: 'a', tls: {} })
  expect(access.renew?.()).toBe(false)
  const anonymous = await openClusterAccess({ KUBECONFIG: write({}, null) })
  expect(await anonymous.current(NOW)).toEqual({ token: undefined, tls: {} })
})

test('TLS and the proxy are as the cluster says', async () => {
  const cluster = { 'tls-server-name': 'other.test', 'proxy-url': 'http://me:planted@proxy.test:3128' }
  const access = await openClusterAccess({ KUBECONFIG: write(cluster, { token: 'a' }) })
  expect(access.proxy).toBe(cluster['proxy-url'])
  expect(await access.current(NOW)).toEqual({ token: 'a', tls: { servername: 'other.test' } })
  const trusting = { KUBECONFIG: write({ 'insecure-skip-tls-verify': true }, {}) }
  expect((await (await openClusterAccess(trusting)).current(NOW)).tls).toEqual({ rejectUnauthorized: false })
})

test.each([V1, `${V1}beta1`])('a program logs in by %s', async (apiVersion) => {
  const exec = { apiVersion, args: ['get-token'], env: [{ name: 'AWS_PROFILE', value: 'data' }] }
  const { current, runs } = await byProgram(exec, [credential({ token: 'abc' }, apiVersion)])
  expect(await current()).toEqual({ token: 'abc', tls: {} })
  expect(runs).toHaveLength(1)
  const { KUBERNETES_EXEC_INFO: info, ...env } = runs[0]?.env ?? {}
  expect(runs[0]).toMatchObject({ command: 'aws', args: ['get-token'] })
  expect(env).toMatchObject({ HOME: '/home/me', TOKEN: 'of us', AWS_PROFILE: 'data' })
  expect(JSON.parse(String(info))).toEqual({
    kind: 'ExecCredential',
    apiVersion,
    spec: { interactive: false },
  })
})

test('a program gives a client certificate', async () => {
  const status = { clientCertificateData: 'CERT', clientKeyData: 'KEY', token: null }
  const { current } = await byProgram({}, [credential(status)])
  expect(await current()).toEqual({ token: undefined, tls: { cert: 'CERT', key: 'KEY' } })
})

test('a program is told of the cluster if it wants that', async () => {
  workspace.write('kube/ca.pem', 'CA')
  const extensions = [
    { name: 'x', extension: 1 },
    { name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } },
  ]
  const cluster = { 'certificate-authority': 'ca.pem', 'tls-server-name': 'n', extensions }
  const { current, runs } = await byProgram(
    { provideClusterInfo: true },
    [credential({ token: 'a' })],
    cluster,
  )
  await current()
  expect(JSON.parse(String(runs[0]?.env['KUBERNETES_EXEC_INFO']))).toMatchObject({
    spec: {
      cluster: {
        server: 'https://api.test/',
        'certificate-authority-data': Buffer.from('CA').toString('base64'),
        'tls-server-name': 'n',
        config: { audience: 'a' },
      },
    },
  })
})

test.each([
  ['aws', 'aws'],
  ['/usr/bin/aws', '/usr/bin/aws'],
  ['./login', 'kube/login'],
  ['../bin/login', 'bin/login'],
])('the program %s is %s', async (command, path) => {
  const { current, runs } = await byProgram({ command }, [credential({ token: 'a' })])
  await current()
  expect(runs[0]?.command).toBe(command.startsWith('.') ? workspace.path(path) : path)
})

test('a credential is used until it ends, and renewed a minute before, beside the requests', async () => {
  const says = ['one', 'two', 'three'].map((token, n) =>
    credential({ token, expirationTimestamp: new Date(NOW + (n + 1) * 600_000).toISOString() }),
  )
  const { current, runs } = await byProgram({}, says)
  const tokenAt = async (s: number) => (await current(NOW + s * 1_000)).token
  expect([await tokenAt(0), await tokenAt(539)]).toEqual(['one', 'one'])
  expect(runs).toHaveLength(1)
  expect(await tokenAt(540)).toBe('one')
  await new Promise(setImmediate)
  expect(await tokenAt(541)).toBe('two')
  expect(runs).toHaveLength(2)
  // Ended: all requests wait for one run.
  expect(await Promise.all([tokenAt(1_200), tokenAt(1_200)])).toEqual(['three', 'three'])
  expect(runs).toHaveLength(3)
})

test('a credential without an end is used until the API refuses it', async () => {
  const { current, runs, access } = await byProgram({}, [
    credential({ token: 'a' }),
    credential({ token: 'b' }),
  ])
  expect((await current()).token).toBe('a')
  expect((await current(NOW + 1e12)).token).toBe('a')
  expect(access.renew?.()).toBe(true)
  expect((await current()).token).toBe('b')
  expect(runs).toHaveLength(2)
})

test('a failed renewal leaves the credential until it ends', async () => {
  const ends = new Date(NOW + 60_000).toISOString()
  const { current } = await byProgram({}, [
    credential({ token: 'a', expirationTimestamp: ends }),
    { code: 1 },
  ])
  expect((await current()).token).toBe('a')
  expect((await current(NOW + 59_999)).token).toBe('a')
  await expect(current(NOW + 60_000)).rejects.toThrow('failed (1). Run it by hand')
})

const LONG = 'planted'.repeat(10)

test.each<readonly [string, Said, string]>([
  ['prints nothing', '', `printed no ExecCredential of ${V1}`],
  ['prints another kind', '{"kind":"Token"}', 'ExecCredential of client.authentication.k8s.io/v1 (kind)'],
  ['prints another version', credential({ token: 'planted' }, `${V1}beta1`), '(apiVersion)'],
  ['prints an empty token', credential({ token: '' }), 'printed no token and no certificate'],
  ['prints half a pair', credential({ token: 'a', clientKeyData: 'planted' }), 'without its certificate'],
  ['prints no time', credential({ token: 'a', expirationTimestamp: 'soon' }), '(status.expirationTimestamp)'],
  ['is missing', { code: 'ENOENT' }, 'was not found. Install it: see README.'],
  ['hangs', { killed: true }, 'did not end within 15 s'],
  ['prints on', { code: 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER', killed: true }, 'more than 1048576 bytes'],
  ['fails', { code: 1, stderr: 'Login\n  expired.\n' }, 'failed (1): Login expired.'],
  ['fails and shows secrets', { code: 255, stderr: `${LONG} x` }, 'failed (255): … x'],
  ['fails and shows its variable', { code: 2, stderr: 'key planted-1' }, 'failed (2): key [secret]'],
])('a program that %s is an error that names it', async (_, said, words) => {
  const exec = { installHint: 'Install it: see README', env: [{ name: 'KEY', value: 'planted-1' }] }
  const { current } = await byProgram(exec, [said])
  const message = await current().catch((error: unknown) => String(error))
  expect(message).toContain('The program "aws", which the kubeconfig names to log in,')
  expect(message).toContain(words)
  expect(message).not.toContain('planted')
})
