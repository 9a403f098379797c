import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { stringify } from 'yaml'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { openClusterAccess, type ClusterAccess } from '../../src/ledger/kubernetes/cluster-access.ts'
import { createClusterApi, type ClusterApi } from '../../src/ledger/kubernetes/cluster-api.ts'
import { startProxy } from '../support/proxy.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* What a process asks the Kubernetes API with, as it is given to a pod and to a person, and as it changes while the process runs. */

let workspace: Workspace
let stack: AsyncDisposableStack

beforeEach(() => {
  stack = new AsyncDisposableStack()
  workspace = stack.use(createWorkspace())
})

afterEach(async () => {
  await stack.disposeAsync()
})

interface Seen {
  readonly authorization: string | undefined
  /** Of the certificate of who asked. */
  readonly client: string | undefined
}

interface SecureApi {
  readonly url: string
  /** The token that is taken. */
  token: string
  readonly seen: Seen[]
  /** Shows another certificate from the next connection on. */
  show(name: string): void
}

/** An API behind TLS, which knows one object. */
async function startSecureApi(name: string): Promise<SecureApi> {
  const api: SecureApi = {
    url: '',
    token: 'first',
    seen: [],
    show: (of) => server.setSecureContext(filesOf(of)),
  }
  const server: Server = createServer(
    { ...filesOf(name), requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const client = (request.socket as TLSSocket).getPeerCertificate().subject?.CN
      api.seen.push({ authorization: request.headers.authorization, client: client?.toString() })
      const isKnown = request.headers.authorization === `Bearer ${api.token}` || client !== undefined
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json', connection: 'close' })
      response.end(
        JSON.stringify(
          isKnown
            ? { metadata: { name: 'one', uid: 'u', resourceVersion: '1' } }
            : { message: 'Unauthorized' },
        ),
      )
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(api, { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function certificate(name: string, subject = 'IP:127.0.0.1'): void {
  const files = ['-keyout', workspace.path(`${name}.key`), '-out', workspace.path(`${name}.pem`)]
  const more = ['-days', '2', '-subj', `/CN=${name}`, '-addext', `subjectAltName=${subject}`]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...key, ...files, ...more], { stdio: 'ignore' })
}

function textOf(file: string): string {
  return readFileSync(workspace.path(file), 'utf8')
}

function asking(access: ClusterAccess): ClusterApi {
  return stack.use(createClusterApi({ access, userAgent: 'test', timeoutMs: 5_000, clock: systemClock }))
}

describe('a pod', () => {
  test('asks with the token that is mounted now, and is refused only while it is an old one', async () => {
    certificate('server')
    const api = await startSecureApi('server')
    mount('first', 'server.pem')
    const pod = await podOf(api)
    expect((await pod.get('/x')).metadata.name).toBe('one')
    api.token = 'second'
    await expect(pod.get('/x')).rejects.toMatchObject({ status: 401 })
    mount('second', 'server.pem')
    expect((await pod.get('/x')).metadata.name).toBe('one')
    expect(api.seen.map(({ authorization }) => authorization)).toEqual([
      'Bearer first',
      'Bearer first',
      'Bearer second',
    ])
  })

  test('believes the authority that is mounted now, and no other one', async () => {
    certificate('server')
    certificate('next')
    const api = await startSecureApi('server')
    mount('first', 'server.pem')
    const pod = await podOf(api)
    await pod.get('/x')
    api.show('next')
    await expect(pod.get('/x')).rejects.toMatchObject({ status: undefined })
    mount('first', 'next.pem')
    expect((await pod.get('/x')).metadata.name).toBe('one')
  })

  test('says which file is missing while its account is not mounted, and works when it is again', async () => {
    certificate('server')
    const api = await startSecureApi('server')
    mount('first', 'server.pem')
    const pod = await podOf(api)
    rmSync(workspace.path('account/token'))
    await expect(pod.get('/x')).rejects.toThrow(/Kubernetes cannot be reached: .*account\/token is not there/)
    mount('first', 'server.pem')
    expect((await pod.get('/x')).metadata.name).toBe('one')
  })

  test('works in the namespace that is mounted; without one, in the default one', async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
    const folder = workspace.path('account')
    expect(await openClusterAccess(env, folder)).toMatchObject({
      server: 'https://[fd00::1]:443',
      namespace: 'default',
    })
    workspace.write('account/namespace', 'data\n')
    expect((await openClusterAccess(env, folder)).namespace).toBe('data')
  })
})

describe('a kubeconfig', () => {
  test('with a client certificate in files beside it', async () => {
    certificate('server')
    certificate('me')
    const api = await startSecureApi('server')
    const access = await write(
      { server: `${api.url}/`, 'certificate-authority': '../server.pem' },
      { 'client-certificate': '../me.pem', 'client-key': '../me.key' },
    )
    await asking(access).get('/x')
    expect(api.seen).toEqual([{ authorization: undefined, client: 'me' }])
    expect(access.namespace).toBe('data')
  })

  test('with a token in a file, as it is now', async () => {
    certificate('server')
    const api = await startSecureApi('server')
    workspace.write('kube/token', 'first')
    const access = await write(
      { server: api.url, 'certificate-authority': '../server.pem' },
      { tokenFile: 'token' },
    )
    const me = asking(access)
    await me.get('/x')
    workspace.write('kube/token', 'second')
    await expect(me.get('/x')).rejects.toMatchObject({ status: 401 })
  })

  test('that trusts any certificate, where it says so', async () => {
    certificate('server')
    const api = await startSecureApi('server')
    const user = { token: 'first' }
    await expect(asking(await write({ server: api.url }, user)).get('/x')).rejects.toThrow(
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    )
    await asking(await write({ server: api.url, 'insecure-skip-tls-verify': true }, user)).get('/x')
  })

  test('that names the server otherwise than its certificate', async () => {
    certificate('server', 'DNS:api.test')
    const api = await startSecureApi('server')
    const server = api.url.replace('127.0.0.1', 'localhost')
    const cluster = { server, 'certificate-authority': '../server.pem' }
    const user = { token: 'first' }
    await expect(asking(await write(cluster, user)).get('/x')).rejects.toThrow('ALTNAME_INVALID')
    await asking(await write({ ...cluster, 'tls-server-name': 'api.test' }, user)).get('/x')
  })

  test('with a proxy, which it goes through', async () => {
    certificate('server')
    const api = await startSecureApi('server')
    const { host, port } = new URL(api.url)
    const proxy = stack.use(await startProxy({ hosts: { [host]: Number(port) }, login: 'me:planted' }))
    const cluster = { server: api.url, 'certificate-authority': '../server.pem' }
    const by = (login: string) =>
      write({ ...cluster, 'proxy-url': proxy.url.replace('//', `//${login}@`) }, { token: 'first' })
    await asking(await by('me:planted')).get('/x')
    expect(proxy.asked).toEqual([`CONNECT ${host}`])
    const refused = asking(await by('me:other-planted')).get('/x')
    await expect(refused).rejects.toThrow(`through the proxy ${new URL(proxy.url).host} of the kubeconfig`)
    await expect(refused).rejects.not.toThrow('planted')
  })

  test('with a program that logs in, and again after a 401', async () => {
    certificate('server')
    const api = await startSecureApi('server')
    const cluster = { server: api.url, 'certificate-authority': '../server.pem' }
    const apiVersion = 'client.authentication.k8s.io/v1'
    const said = JSON.stringify({ kind: 'ExecCredential', apiVersion, status: { token: 'TOKEN' } })
    const script = `printf x >>runs; cat - >&2; printf '%s' '${said}' | sed "s/TOKEN/$(cat "$1")/"`
    workspace.write('kube/login', `#!/bin/sh\ncd "$(dirname "$0")"\n${script}\n`)
    chmodSync(workspace.path('kube/login'), 0o755)
    workspace.write('kube/token', 'first')
    const me = asking(await write(cluster, { exec: { apiVersion, command: './login', args: ['token'] } }))
    await Promise.all([me.get('/x'), me.get('/y')])
    workspace.write('kube/token', 'second')
    api.token = 'second'
    await me.get('/x')
    expect(textOf('kube/runs')).toBe('xx')
    api.token = 'third'
    await expect(me.get('/x')).rejects.toMatchObject({ status: 401 })
    rmSync(workspace.path('kube/login'))
    await expect(me.get('/x')).rejects.toThrow(/kube\/login", which the kubeconfig names .* was not found/)
  })
})

function filesOf(name: string) {
  return { key: textOf(`${name}.key`), cert: textOf(`${name}.pem`) }
}

async function podOf(api: SecureApi): Promise<ClusterApi> {
  const { hostname, port } = new URL(api.url)
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  return asking(await openClusterAccess(env, workspace.path('account')))
}

function mount(token: string, ca: string): void {
  workspace.write('account/token', `${token}\n`)
  workspace.write('account/ca.crt', textOf(ca))
}

function write(
  cluster: Readonly<Record<string, unknown>>,
  user: Readonly<Record<string, unknown>>,
): Promise<ClusterAccess> {
  const config = {
    'current-context': 'here',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'data' } }],
  }
  workspace.write('kube/config', stringify(config))
  return openClusterAccess({ KUBECONFIG: workspace.path('kube/config') })
}
