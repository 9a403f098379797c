import { createServer } from 'node:https'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { fakeOperator, fakeParts, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { createAuthority } from '../slow/support/authority.ts'
import { runHere } from '../support/command.ts'
import { runProgram } from '../support/process.ts'
import { startProxy } from '../support/proxy.ts'
import { createWorkspace } from '../support/workspace.ts'
import { listenHere } from '../support/listen-here.ts'

/* A daemon behind an ingress that has a certificate of a private authority, asked from elsewhere, and through a proxy. */

const HOST = 'pipewright.example'
const LOGIN = 'keeper:planted-4711'
const TOKEN = 'planted-admin-token'

async function daemonBehindIngress() {
  await using stack = new AsyncDisposableStack()
  const workspace = stack.use(createWorkspace())
  const authority = stack.use(createAuthority(HOST))
  workspace.write('admin/token', TOKEN)
  const token = ['--admin-token-file', workspace.path('admin/token')]
  const operator = fakeOperator({
    adminToken: async () => TOKEN,
    request: () => ({ token: 'tok-1', accepted: 'all', suspended: [] }),
  })
  const daemon = new URL((await running(fakeParts({ operator }, [resource('Service/analytics')]))).url)
  const { key, cert } = authority
  const ingress = createServer({ key, cert }, (asked, response) => {
    const { hostname, port, host } = daemon
    const { method, url: path } = asked
    const headers = { ...asked.headers, host }
    const passed = request({ hostname, port, method, path, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    asked.pipe(passed)
  })
  ingress.on('tlsClientError', () => undefined)
  const port = await listenHere(ingress)
  stack.defer(() => void ingress.close())
  stack.defer(() => ingress.closeAllConnections())
  const proxy = stack.use(await startProxy({ hosts: { [`${HOST}:443`]: port }, login: LOGIN }))
  const kept = stack.move()
  return {
    authority,
    proxy,
    token,
    ask: (args: readonly string[], login = LOGIN) =>
      runHere([...args, '--server', `https://${HOST}`], {
        HTTPS_PROXY: proxy.url.replace('://', `://${login}@`),
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

test('a daemon is asked through the proxy, and known by the authority in --ca-file', async () => {
  await using world = await daemonBehindIngress()
  const { ask, authority, token, proxy } = world
  const ca = ['--ca-file', authority.file]

  const status = await ask(['status', ...ca])
  expect(status).toMatchObject({ code: 0, stderr: '' })
  expect(status.stdout).toContain('Service/analytics')
  expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${HOST}:443`]))
  expect(await ask(['history', ...ca])).toMatchObject({ code: 0, stderr: '' })
  expect(await ask(['reconcile', ...ca, ...token])).toMatchObject({ code: 0, stderr: '' })

  const unknown = await ask(['status'])
  expect(unknown.code).toBe(1)
  expect(unknown.stderr).toContain('--ca-file')

  const stranger = await ask(['status', ...ca], 'keeper:planted-other')
  expect(stranger.code).toBe(1)
  expect(stranger.stderr).toContain(
    `status: https://${HOST} cannot be reached: the proxy ${proxy.url} refused the user and the password (407); correct them in HTTPS_PROXY.`,
  )
  expect(stranger.stderr).not.toContain('planted')
})

test('a daemon on this machine is asked without the proxy', async () => {
  const { url } = await running(fakeParts())
  const env = { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' }
  expect(await runHere(['status', '--server', url], env)).toMatchObject({ code: 0, stderr: '' })
})

test('authorities that Node knows are believed beside those in --ca-file', async () => {
  using known = createAuthority('127.0.0.1')
  using other = createAuthority('127.0.0.1')
  const { key, cert } = known
  const server = createServer({ key, cert }, (_request, response) => response.end('{}'))
  server.on('tlsClientError', () => undefined)
  const port = await listenHere(server)
  const args = ['status', '--server', `https://127.0.0.1:${port}`, '--ca-file', other.file]
  try {
    expect((await runHere(args)).stderr).toContain('TLS failed; add the authority')
    const { stderr } = await runProgram(args, { env: { NODE_EXTRA_CA_CERTS: known.file } })
    expect(stderr).not.toContain('TLS failed')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test.each([
  [
    'a proxy that is none',
    [],
    { HTTPS_PROXY: 'socks5://planted@proxy.example' },
    'HTTPS_PROXY: a SOCKS proxy',
  ],
  [
    'an authority that cannot be read',
    ['--ca-file', '/nowhere/ca.pem'],
    {},
    '--ca-file "/nowhere/ca.pem": it cannot',
  ],
] as const)('%s is said before anything is asked', async (_why, args, env, says) => {
  const { code, stderr } = await runHere(['status', '--server', `https://${HOST}`, ...args], env)
  expect(code).toBe(64)
  expect(stderr).toContain(says)
  expect(stderr).not.toContain('planted')
})
