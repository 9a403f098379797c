import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { hostOf } from '../../src/server/origin-guard.ts'
import { fakeParts } from './fake-parts.ts'
import { running } from './running.ts'

type Sent = Readonly<Record<string, string>>

/** A request with headers that fetch does not let anybody set. */
async function send(url: string, headers: Sent, path = '/api/v1/overview', method = 'GET') {
  const { hostname, port } = new URL(url)
  const sent = request({ hostname, port, path, method, headers: { connection: 'close', ...headers } }).end()
  const [reply] = (await once(sent, 'response')) as [IncomingMessage] // of this event
  return { status: reply.statusCode, headers: reply.headers, text: await text(reply) }
}

/** Everything that one listener says to bytes. */
function say(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let said = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      said += part
    })
    socket.on('error', reject).on('close', () => resolve(said))
  })
}

const HOSTS = {
  allowed: ['pipewright', '.data.svc.cluster.local'],
  publicUrl: 'https://Pipes.example.com/team',
}

const PATHS = [
  '/',
  '/page.js',
  '/api/v1/overview',
  '/api/v1/events',
  '/-/reconcile',
  '/metrics',
  '/healthz',
  '/none',
]

describe('by which names it is asked', () => {
  const NAMES: readonly (readonly [host: string, status: number, what: string])[] = [
    ['127.0.0.1', 200, 'its address'],
    ['127.0.0.1:8080', 200, 'an address with a port, which a port-forward makes another'],
    ['[::FFFF:10.0.0.1]:8080', 200, 'an IPv4 address, written as IPv6'],
    ['[fe80::1%25eth0]:8080', 200, 'an IPv6 address with a zone'],
    ['[fe80::1%]', 421, 'half a zone'],
    ['[evil.test%25eth0]', 421, 'a name with a zone'],
    ['localhost:9000', 200, 'a port-forward'],
    ['pipewright:8080', 200, 'a name that is allowed'],
    ['a.b.data.svc.cluster.local', 200, 'below a domain that is allowed'],
    ['pipes.example.com', 200, 'the host of the public URL'],
    ['evil.test', 421, 'a name that somebody led here'],
    ['xpipewright', 421, 'a name that ends as an allowed one'],
    ['pipewright.evil.test', 421, 'a name that begins as an allowed one'],
    ['xdata.svc.cluster.local', 421, 'no name below the domain'],
    ['evil.localhost', 421, 'below localhost'],
    ['127.0.0.1.evil.test', 421, 'a name that begins as an address'],
    ['2130706433', 421, 'an address as one number: no browser sends it so'],
    ['user@localhost', 421, 'what is no host'],
    ['[::1', 421, 'half an address'],
    ['[evil.test]', 421, 'a name in brackets'],
    ['localhost:80:80', 421, 'two ports'],
    ['localhost, evil.test', 421, 'two hosts'],
  ]

  it('is answered by those of its own alone', async () => {
    const { url } = await running(fakeParts({ hosts: HOSTS }))
    for (const [host, status, what] of NAMES)
      expect.soft(await send(url, { host }), `${host}: ${what}`).toMatchObject({ status })
  })

  it('refuses each path to a page that was led here by a name, and says what to do', async () => {
    const { url } = await running(fakeParts())
    for (const path of PATHS)
      for (const method of ['GET', 'POST', 'HEAD', 'OPTIONS']) {
        const { status, headers, text: said } = await send(url, { host: 'evil.test:8080' }, path, method)
        const row = `${method} ${path}`
        expect.soft(status, row).toBe(421)
        expect.soft(headers['access-control-allow-origin'], row).toBeUndefined()
        if (method === 'HEAD') continue
        expect.soft(said, row).toContain('the host \\"evil.test\\" is not known here')
        expect.soft(said, row).toContain('--allowed-hosts')
      }
  })

  it('lets monitoring ask for probes and metrics on a listener of their own by any name, and no browser', async () => {
    const { metricsUrl = '' } = await running(
      fakeParts({ metricsListen: { host: '127.0.0.1', port: 0 }, hosts: HOSTS }),
    )
    const browser = [
      { 'accept-language': 'en' },
      { 'accept-language': '' },
      { 'sec-fetch-site': 'same-origin' },
      { origin: 'http://evil.test' },
      { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
    ]
    const prometheus = { 'user-agent': 'Prometheus/3.0', accept: 'text/plain', 'accept-encoding': 'gzip' }
    for (const path of ['/metrics', '/healthz', '/readyz']) {
      for (const host of ['pipewright-metrics.data.svc:9090', 'pipewright:9090', '10.0.0.7:9090', 'any.test'])
        expect(await send(metricsUrl, { host, ...prometheus }, path)).toMatchObject({ status: 200 })
      for (const headers of browser)
        expect(await send(metricsUrl, { host: 'evil.test', ...headers }, path)).toMatchObject({ status: 421 })
      const own = { host: 'localhost:9090', 'accept-language': 'en', 'sec-fetch-site': 'none' }
      expect(await send(metricsUrl, own, path)).toMatchObject({ status: 200 })
      const led = { host: 'localhost:9090', 'sec-fetch-site': 'cross-site' }
      expect(await send(metricsUrl, led, path)).toMatchObject({ status: 403 })
      expect(await send(metricsUrl, { host: 'user@any.test' }, path)).toMatchObject({ status: 421 })
    }
  })

  it('answers old probes that name no host, as no browser does', async () => {
    const { port } = await running(fakeParts())
    expect(await say(port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /)
    expect(await say(port, 'GET /healthz HTTP/1.0\r\nOrigin: null\r\n\r\n')).toMatch(/^HTTP\/1.1 403 /)
    expect(await say(port, 'GET /healthz HTTP/1.0\r\nHost: evil.test\r\n\r\n')).toMatch(/^HTTP\/1.1 421 /)
  })

  it('believes no header that a proxy may set, and no host in the target', async () => {
    const { url, port } = await running(fakeParts())
    const forwarded = { host: 'evil.test', 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' }
    expect(await send(url, forwarded)).toMatchObject({ status: 421 })
    const end = 'Connection: close\r\n\r\n'
    const whole = 'GET http://localhost/api/v1/overview HTTP/1.1\r\nHost:'
    expect(await say(port, `${whole} evil.test\r\n${end}`)).toMatch(/^HTTP\/1.1 (400|421) /)
    expect(await say(port, `${whole} localhost\r\n${end}`)).toMatch(/^HTTP\/1.1 400 /)
    const line = 'GET /api/v1/overview HTTP/1.1\r\n'
    expect(await say(port, `${line}Host: localhost\r\nHost: evil.test\r\n${end}`)).toMatch(/^HTTP\/1.1 4/)
    expect(await say(port, `${line}Host:\r\n${end}`)).toMatch(/^HTTP\/1.1 421 /)
    expect(await say(port, `${line}${end}`)).toMatch(/^HTTP\/1.1 400 /)
  })

  it('takes any name when it is told to', async () => {
    const { url } = await running(fakeParts({ hosts: { allowed: ['*'], publicUrl: undefined } }))
    expect(await send(url, { host: 'what.ever' })).toMatchObject({ status: 200 })
  })

  it('reads a long name in no time', () => {
    expect(hostOf(`${'a.'.repeat(8_000)}test`)).toBeUndefined()
    expect(hostOf(`${'-'.repeat(8_000)}!`)).toBeUndefined()
  })
})

describe('what a page from elsewhere may ask', () => {
  const OWN = { host: 'localhost:8080' }
  const LINKED = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  }
  const ASKED: readonly (readonly [what: string, Sent, path: string, status: number])[] = [
    ['its own page', { 'sec-fetch-site': 'same-origin' }, '/api/v1/overview', 200],
    ['an address that was typed', { 'sec-fetch-site': 'none' }, '/api/v1/overview', 200],
    ['no browser', {}, '/api/v1/overview', 200],
    ['a page elsewhere', { 'sec-fetch-site': 'cross-site' }, '/api/v1/overview', 403],
    ['its metrics', { 'sec-fetch-site': 'cross-site' }, '/metrics', 403],
    ['a link to the page', LINKED, '/?status=Drifted', 200],
    ['a link to the API', LINKED, '/api/v1/overview', 403],
    ['the page in a frame', { ...LINKED, 'sec-fetch-dest': 'iframe' }, '/', 403],
    ['its own origin', { origin: 'http://localhost:8080' }, '/api/v1/overview', 200],
    ['another origin', { origin: 'http://evil.test' }, '/api/v1/overview', 403],
    ['what is no origin', { origin: 'x' }, '/api/v1/overview', 403],
    ['a file', { origin: 'file://' }, '/api/v1/overview', 403],
  ]

  it('is what is its own, and a link to it', async () => {
    const { url } = await running(fakeParts())
    for (const [what, headers, path, status] of ASKED) {
      const reply = await send(url, { ...OWN, ...headers }, path)
      expect.soft(reply.status, what).toBe(status)
      expect.soft(reply.headers['access-control-allow-origin'], what).toBeUndefined()
      expect.soft(reply.headers['cross-origin-resource-policy'], what).toBe('same-origin')
    }
  })

  it.each([
    ['https://pipes.example.com', 'pipes.example.com', 'TLS ends before it'],
    ['https://pipes.example.com', 'pipes.example.com:443', 'the same, with the port of TLS'],
    ['https://pipes.example.com', '10.0.0.7:8080', 'a proxy that does not keep the host'],
  ])('the page at %s asks as %s: %s', async (origin, host) => {
    const { url } = await running(fakeParts({ hosts: HOSTS }))
    expect(await send(url, { host, origin, 'sec-fetch-site': 'same-origin' })).toMatchObject({ status: 200 })
  })

  it('nothing is set off by a form of another page', async () => {
    const { url } = await running(fakeParts())
    const form = { ...OWN, origin: 'https://evil.test', ...LINKED }
    for (const path of ['/', '/-/reconcile', '/-/allow', '/api/v1/plan']) {
      expect(await send(url, form, path, 'POST')).toMatchObject({ status: 403 })
    }
  })
})
