import { expect, test } from 'vitest'
import { httpPost } from '../../src/cli/compose-webhook.ts'
import { readProxies } from '../../src/config/proxy-settings.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { deliver } from '../../src/notify/delivery.ts'
import { openNetwork } from '../../src/platform/network.ts'
import { httpServer } from '../platform/support/server.ts'
import { startProxy } from '../support/proxy.ts'

/* Messages through a real proxy. No line holds its password or the path of the URL. */

const PLANTED = /planted|a2VlcGVy/

const NO_FILES = { caFile: undefined, certFile: undefined, keyFile: undefined }

async function send(url: string, network: ReturnType<typeof openNetwork>) {
  const attempts: { attempt: number; code: string }[] = []
  await deliver(
    { id: 'm-1', body: '{}' },
    {
      readTarget: async () => ({ url: new URL(url), secret: undefined }),
      confirm: async () => Infinity,
      post: httpPost(network, systemClock),
      clock: systemClock,
      random: () => 0,
      userAgent: 'test',
      onAttempt: (attempt) => attempts.push(attempt),
    },
    { signal: new AbortController().signal, retries: 0 },
  ).catch(() => undefined)
  return attempts
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
  { scheme: 'https', status: 403, says: /^the proxy http:\/\/127\.0\.0\.1:\d+ refuses to connect/ },
  { scheme: 'http', status: 503, says: /^HTTP 503$/ },
])('$scheme: a proxy that says $status', async ({ scheme, status, says }) => {
  await using server = await httpServer((response) => response.writeHead(204).end())
  const port = Number(new URL(server.url).port)
  await using proxy = await startProxy({ hosts: { 'hooks.example': port } })
  const withLogin = proxy.url.replace('://', '://keeper:planted-4711@')
  const { proxies } = readProxies({ HTTP_PROXY: withLogin, HTTPS_PROXY: withLogin }, {})
  const network = openNetwork({ proxies, tls: NO_FILES }, 5_000)
  await proxy.set({ type: 'refuse', status })
  const attempts = await send(`${scheme}://hooks.example/planted-path`, network)
  expect(attempts).toMatchObject([{ message: expect.stringMatching(says) as unknown }])
  expect(JSON.stringify(attempts)).not.toMatch(PLANTED)
  expect(server.requests).toEqual([])
  await network.destroy()
})

test('a message arrives', async () => {
  await using server = await httpServer((response) => response.writeHead(204).end())
  await using proxy = await startProxy({ hosts: { 'hooks.example': Number(new URL(server.url).port) } })
  const { proxies } = readProxies({ http_proxy: proxy.url }, {})
  const network = openNetwork({ proxies, tls: NO_FILES }, 5_000)
  expect(await send('http://hooks.example/hook', network)).toMatchObject([
    { code: '204', message: undefined },
  ])
  expect(proxy.asked).toEqual(['POST http://hooks.example/hook'])
  await network.destroy()
})
