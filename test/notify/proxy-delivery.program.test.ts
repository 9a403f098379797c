import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { httpPost } from '../../src/cli/compose-notifier.ts'
import { readProxies } from '../../src/config/proxy-settings.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { deliver } from '../../src/notify/delivery.ts'
import { type Network, openNetwork } from '../../src/platform/network.ts'
import { readSecretFile } from '../../src/platform/secret-store.ts'
import { httpServer } from '../platform/support/server.ts'
import { startProxy } from '../support/proxy.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'

/* Notifications through a real proxy. Neither its password nor the address of the receiver is said. */

const PLANTED = /planted|a2VlcGVy/

const NO_FILES = { caFile: undefined, certFile: undefined, keyFile: undefined }

/** Delivers a message to the address in the workspace. */
function send(workspace: Workspace, network: Network) {
  return deliver(
    { id: 'm-1', body: '{}' },
    { urlFile: workspace.path('url'), keyFile: undefined, allowInsecureHttp: true },
    {
      confirm: async () => Infinity,
      post: httpPost(network, systemClock),
      readSecret: readSecretFile,
      clock: systemClock,
      userAgent: 'test',
    },
    new AbortController().signal,
  )
}

test.each([
  {
    scheme: 'http',
    status: 407,
    says: /^the proxy http:\/\/127\.0\.0\.1:\d+ refused the user and the password .* correct them in HTTP_PROXY$/,
  },
  {
    scheme: 'https',
    status: 407,
    says: /^the proxy http:\/\/127\.0\.0\.1:\d+ refused the user and the password .* correct them in HTTPS_PROXY$/,
  },
  { scheme: 'https', status: 403, says: /^the proxy http:\/\/127\.0\.0\.1:\d+ does not open the way/ },
  { scheme: 'http', status: 503, says: /^HTTP 503: .*the proxy says no to/ },
])('$scheme: a proxy that says $status is tried again later, and named', async ({ scheme, status, says }) => {
  using workspace = createWorkspace()
  await using server = await httpServer((response) => response.writeHead(204).end())
  const port = Number(new URL(server.url).port)
  await using proxy = await startProxy({ hosts: { 'hooks.example': port } })
  const withLogin = proxy.url.replace('://', '://keeper:planted-4711@')
  const { proxies } = readProxies({ HTTP_PROXY: withLogin, HTTPS_PROXY: withLogin }, {})
  const network = openNetwork({ proxies, tls: NO_FILES }, 5_000)
  writeFileSync(workspace.path('url'), `${scheme}://hooks.example/planted-path`)
  await proxy.set({ type: 'refuse', status })
  const delivery = await send(workspace, network)
  expect(delivery).toMatchObject({ result: 'again', why: expect.stringMatching(says) as unknown })
  expect(JSON.stringify(delivery)).not.toMatch(PLANTED)
  expect(server.requests).toEqual([])
  await network.destroy()
})

test('a message arrives', async () => {
  using workspace = createWorkspace()
  await using server = await httpServer((response) => response.writeHead(204).end())
  await using proxy = await startProxy({ hosts: { 'hooks.example': Number(new URL(server.url).port) } })
  const { proxies } = readProxies({ http_proxy: proxy.url }, {})
  const network = openNetwork({ proxies, tls: NO_FILES }, 5_000)
  writeFileSync(workspace.path('url'), 'http://hooks.example/hook')
  const delivery = await send(workspace, network)
  expect(delivery).toEqual({ result: 'delivered', code: '204' })
  expect(proxy.asked).toEqual(['POST http://hooks.example/hook'])
  await network.destroy()
})
