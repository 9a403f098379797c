import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UUID_FORM } from '../../src/kinds/id-form.ts'
import type { ProxySettings } from '../../src/lib/proxy.ts'
import { createOutcomeOf } from '../../src/reconcile/apply/outcome-of-error.ts'
import { readProxies } from '../../src/config/proxy-settings.ts'
import type { TlsFiles } from '../../src/platform/tls-files.ts'
import { type Authority, createAuthority } from '../slow/support/authority.ts'
import { type ProxyMode, startProxy, type TestProxy } from '../support/proxy.ts'
import { createWorkspace } from '../support/workspace.ts'
import { realClock } from './support/clock.ts'
import {
  createRequest,
  DIRECT,
  envelope,
  failure,
  PIPE,
  platform,
  type TestPlatform,
} from './support/platform.ts'
import { httpServer } from './support/server.ts'
import { listenHere } from '../support/listen-here.ts'

/* What holds around a request that goes through a proxy, which is a real one. */

const HOST = 'platform.example'
const URL_OF_PLATFORM = `https://${HOST}`
const DONE = envelope({ id: PIPE, name: 'orders' })
const LOGIN = 'keeper:p@ss-planted-4711'
const PASSWORD = /p(@|%40)ss-planted|a2VlcGVy/
const NONE: TlsFiles = { caFile: undefined, certFile: undefined, keyFile: undefined }

let authority: Authority
beforeAll(() => {
  authority = createAuthority(HOST)
})
afterAll(() => authority[Symbol.dispose]())

/** A platform behind TLS; its requests as they came, with their headers. */
async function securePlatform(
  answer: (response: ServerResponse) => void = (response) => response.end(DONE),
  more: { readonly ca?: string; readonly requestCert?: boolean } = {},
) {
  const requests: { readonly method: string; readonly headers: Readonly<Record<string, unknown>> }[] = []
  const server = createServer({ key: authority.key, cert: authority.cert, ...more }, (request, response) => {
    request.resume()
    request.on('error', () => undefined)
    request.on('end', () => {
      requests.push({ method: request.method ?? '', headers: request.headers })
      answer(response)
    })
  })
  server.on('tlsClientError', () => undefined)
  const port = await listenHere(server)
  return {
    port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function proxiesOf(env: Readonly<Record<string, string>>): ProxySettings {
  return readProxies(env, {}).proxies
}

function addressWithLogin(url: string): string {
  return url.replace('://', `://${LOGIN.replace('@', '%40')}@`)
}

interface Through extends AsyncDisposable {
  readonly proxy: TestProxy
  readonly server: Awaited<ReturnType<typeof securePlatform>>
  readonly p: TestPlatform
  create(notAfter?: number): Promise<unknown>
}

/** A client that reaches a platform by a proxy. */
async function through(
  options: { readonly answer?: (response: ServerResponse) => void; readonly tls?: TlsFiles } = {},
): Promise<Through> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await securePlatform(options.answer))
  const proxy = stack.use(await startProxy({ hosts: { [`${HOST}:443`]: server.port }, login: LOGIN }))
  const p = stack.use(
    platform({
      baseUrl: URL_OF_PLATFORM,
      createDeadlineMs: 4_000,
      requestTimeoutMs: 4_000,
      idempotentRetries: 0,
      network: {
        proxies: proxiesOf({ HTTPS_PROXY: addressWithLogin(proxy.url) }),
        tls: options.tls ?? { ...NONE, caFile: authority.file },
      },
    }),
  )
  const kept = stack.move()
  return {
    server,
    proxy,
    p,
    async create(notAfter = Infinity) {
      const permit = await p.admit()
      return permit.send({ ...createRequest('{}', 'intent-1'), notAfter })
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function read(p: TestPlatform): Promise<unknown> {
  return p.read()
}

/** A client that reaches a platform without TLS by a proxy. */
async function plainThrough(status: number, body = DONE) {
  await using stack = new AsyncDisposableStack()
  const headers: Record<string, string> = {}
  const server = stack.use(await httpServer((response) => response.writeHead(status, headers).end(body)))
  const port = Number(new URL(server.url).port)
  const proxy = stack.use(await startProxy({ hosts: { 'plain.example': port }, login: LOGIN }))
  const proxies = proxiesOf({ http_proxy: addressWithLogin(proxy.url) })
  const baseUrl = 'http://plain.example'
  const p = stack.use(platform({ baseUrl, idempotentRetries: 0, network: { ...DIRECT, proxies } }))
  const kept = stack.move()
  return { server, headers, proxy, p, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function createBy(p: TestPlatform) {
  return p.create()
}

/** The same with these files of TLS, and a platform that may ask for a certificate. */
async function throughWith(tls: TlsFiles, requestCert: boolean, ca: string) {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await securePlatform(undefined, { requestCert, ca }))
  const proxy = stack.use(await startProxy({ hosts: { [`${HOST}:443`]: server.port } }))
  const proxies = proxiesOf({ HTTPS_PROXY: proxy.url })
  const p = stack.use(platform({ baseUrl: URL_OF_PLATFORM, idempotentRetries: 0, network: { proxies, tls } }))
  const kept = stack.move()
  return { server, p, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

describe('through a proxy that joins', () => {
  test('a reading and a create arrive, and only the proxy sees who we are to it', async () => {
    await using t = await through()
    await read(t.p)
    const before = t.proxy.asked.length
    await t.create()
    expect(t.server.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
    // The create has a connection of its own.
    expect(t.proxy.asked.slice(before)).toEqual([`CONNECT ${HOST}:443`])
    expect(t.proxy.logins[0]).toBe(`Basic ${Buffer.from(LOGIN).toString('base64')}`)
    expect(t.server.requests.flatMap(({ headers }) => Object.keys(headers))).not.toContain(
      'proxy-authorization',
    )
    expect(t.server.requests[1]?.headers).toMatchObject({ host: HOST, 'idempotency-key': 'intent-1' })
  })

  const CLOSED: readonly { readonly mode: ProxyMode; readonly says: string }[] = [
    { mode: { type: 'refuse', status: 403 }, says: 'refuses to connect to the host (403)' },
    {
      mode: { type: 'refuse', status: 407 },
      says: 'refused the user and the password (407); correct them in HTTPS_PROXY',
    },
    { mode: { type: 'refuse', status: 502 }, says: 'could not reach the host (502)' },
    { mode: { type: 'hang' }, says: '' },
    // At once: what only a limit of time notices "took too long".
    { mode: { type: 'cut' }, says: 'it could not be made (' },
  ]
  test.each(CLOSED)(
    'that says $mode.type $mode.status no request was sent, and it can be tried again',
    async (row) => {
      await using t = await through()
      await t.proxy.set(row.mode)
      const [created, wasRead] = await Promise.all([failure(t.create()), failure(read(t.p))])
      for (const { facts, message } of [created, wasRead]) {
        expect(facts).toMatchObject({
          class: 'Unavailable',
          effect: 'none',
          transient: true,
          httpStatus: undefined,
        })
        expect(message).toContain(row.says)
        expect(message).toContain(`the proxy ${t.proxy.url}`)
        expect(message).not.toMatch(PASSWORD)
      }
      expect(t.server.requests).toEqual([])
      await t.proxy.set({ type: 'pass' })
      await t.create()
      expect(t.server.requests).toHaveLength(1)
    },
  )

  test('that is not there no request was sent', async () => {
    await using t = await through()
    await t.proxy[Symbol.asyncDispose]()
    const { facts, message } = await failure(t.create())
    expect(facts.effect).toBe('none')
    expect(message).toContain(`the proxy ${t.proxy.url} could not be reached (HTTPS_PROXY): it was refused`)
    expect(message).not.toMatch(PASSWORD)
  })

  test('a platform whose authority nobody knows gets nothing, and the setting is named', async () => {
    await using t = await through({ tls: NONE })
    const { facts, message } = await failure(t.create())
    expect(facts.effect).toBe('none')
    expect(message).toContain('--ca-file')
    expect(t.server.requests).toEqual([])
  })

  // One that is cut by force under TLS has ended the process.
  test.each(['cut all', 'end all'] as const)(
    'what is over (%s) when the request is there may have worked',
    async (type) => {
      const cut: { now: () => unknown } = { now: () => undefined }
      await using t = await through({ answer: () => cut.now() })
      cut.now = () => t.proxy.set({ type })
      const error = await failure(t.create())
      const { facts, message } = error
      // So that a retry waits longer.
      expect(createOutcomeOf(error, { now: 0, form: UUID_FORM })).toMatchObject({
        result: 'unknown',
        seen: { proxy: t.proxy.url },
      })
      expect(facts).toMatchObject({ class: 'Unavailable', effect: 'unknown', proxy: t.proxy.url })
      expect(message).toContain('might have been created')
      expect(t.server.requests).toHaveLength(1)
    },
  )

  test('what the proxy passes on late may work yet: effect unknown, and the connection is reset', async () => {
    await using t = await through()
    await t.proxy.set({ type: 'late' })
    const { facts } = await failure(t.create())
    expect(facts).toMatchObject({ class: 'Unavailable', effect: 'unknown' })
    await expect.poll(() => t.proxy.endings).toEqual(['ECONNRESET'])
    expect(t.server.requests).toEqual([])
    await t.proxy.set({ type: 'let go' })
    await expect.poll(() => t.server.requests).toHaveLength(1)
  })

  test('later than it may go out nothing is sent, although the way is open', async () => {
    await using t = await through()
    const { facts, message } = await failure(t.create(realClock.monotonic() - 1))
    expect(facts.effect).toBe('none')
    expect(message).toContain('no request was sent')
    expect(t.proxy.asked).toEqual([`CONNECT ${HOST}:443`])
    expect(t.server.requests).toEqual([])
  })

  test('that speaks TLS itself', async () => {
    using own = createAuthority('127.0.0.1')
    using workspace = createWorkspace()
    await using server = await securePlatform()
    const hosts = { [`${HOST}:443`]: server.port }
    await using proxy = await startProxy({ hosts, tls: { key: own.key, cert: own.cert } })
    const caFile = workspace.path('both.pem')
    const network = (file: string) => ({
      proxies: proxiesOf({ https_proxy: proxy.url }),
      tls: { ...NONE, caFile: file },
    })
    await using unknown = platform({
      baseUrl: URL_OF_PLATFORM,
      idempotentRetries: 0,
      network: network(authority.file),
    })
    expect((await failure(read(unknown))).message).toContain('--ca-file')
    writeFileSync(caFile, `${fileText(own.file)}\n${fileText(authority.file)}`)
    await using p = platform({ baseUrl: URL_OF_PLATFORM, createDeadlineMs: 4_000, network: network(caFile) })
    expect((await createBy(p)).value.id).toBe(PIPE)

    // Of TLS in TLS, too, the connection at the bottom is reset.
    await expect.poll(() => proxy.endings).toEqual(['closed'])
    await proxy.set({ type: 'late' })
    expect((await failure(createBy(p))).facts.effect).toBe('unknown')
    await expect.poll(() => proxy.endings).toEqual(['closed', 'ECONNRESET'])
  })
})

describe('through a proxy that forwards', () => {
  test('a create arrives as it is meant', async () => {
    await using t = await plainThrough(200)
    expect((await createBy(t.p)).value.id).toBe(PIPE)
    const [request] = t.server.requests
    expect(t.proxy.asked).toEqual([`POST http://plain.example${request?.url}`])
    expect(request?.headers).toMatchObject({ host: 'plain.example', 'idempotency-key': 'intent-1' })
    expect(request?.headers).not.toHaveProperty('proxy-authorization')
  })

  test('a page of the proxy is not taken for the platform’s word', async () => {
    await using t = await plainThrough(200)
    await t.proxy.set({ type: 'refuse', status: 503 })
    const created = await failure(createBy(t.p))
    expect(created.facts).toMatchObject({ class: 'Unavailable', effect: 'unknown' })
    expect(created.message).toContain(`the proxy ${t.proxy.url} might have answered`)
    expect(created.message).toContain('the proxy says no')
    expect(created.message).not.toMatch(PASSWORD)
    expect((await failure(read(t.p))).facts.class).toBe('Unavailable')
  })

  test('a 404 that a cache kept is not the platform’s word', async () => {
    const gone = JSON.stringify({
      status: 404,
      requestId: 'b6a1f0de-0000-4000-8000-000000000001',
      result: null,
    })
    await using t = await plainThrough(404, gone)
    expect((await failure(read(t.p))).facts.class).toBe('Missing')
    t.headers['Age'] = '12'
    const kept = await failure(read(t.p))
    expect(kept.facts.class).toBe('Unavailable')
    expect(kept.message).toContain('answered 404, from a cache in between (it has the header "Age")')
    expect(t.server.requests.map(({ headers }) => headers['cache-control'])).toEqual(['no-cache', 'no-cache'])
  })

  test('a 407 is about the proxy, and no request was sent on', async () => {
    await using t = await plainThrough(200)
    await t.proxy.set({ type: 'refuse', status: 407 })
    const { facts, message } = await failure(createBy(t.p))
    expect(facts).toMatchObject({ class: 'Unavailable', effect: 'none' })
    expect(message).toContain(`the proxy ${t.proxy.url} refused the user and the password`)
    expect(message).toContain('correct them in http_proxy')
    expect(message).not.toMatch(PASSWORD)
    expect(t.server.requests).toEqual([])
  })

  test('a 407 of the platform’s side is not the proxy’s, and may come after the work', async () => {
    await using t = await plainThrough(407)
    const { facts, message } = await failure(createBy(t.p))
    expect(facts.effect).toBe('unknown')
    expect(message).not.toContain('HTTP_PROXY')
  })
})

describe('files of TLS', () => {
  test('a proxy that asks for a client certificate is shown none', async () => {
    using workspace = createWorkspace()
    using own = createAuthority('127.0.0.1')
    using clients = createAuthority('client.example')
    workspace.write('both.pem', `${fileText(own.file)}\n${fileText(authority.file)}`)
    workspace.write('client.pem', clients.cert)
    workspace.write('client.key', clients.key)
    await using server = await securePlatform(undefined, { requestCert: true, ca: fileText(clients.file) })
    const hosts = { [`${HOST}:443`]: server.port }
    await using proxy = await startProxy({ hosts, tls: { key: own.key, cert: own.cert }, requestCert: true })
    const tls = {
      caFile: workspace.path('both.pem'),
      certFile: workspace.path('client.pem'),
      keyFile: workspace.path('client.key'),
    }
    const network = { proxies: proxiesOf({ https_proxy: proxy.url }), tls }
    await using p = platform({ baseUrl: URL_OF_PLATFORM, network })
    await createBy(p)
    expect(server.requests).toHaveLength(1)
    expect(proxy.shown).toEqual([undefined])
  })

  test('the platform is shown a client certificate where it asks for one, and lets nobody in without it', async () => {
    using workspace = createWorkspace()
    using clients = createAuthority('client.example')
    workspace.write('client.pem', clients.cert)
    workspace.write('client.key', clients.key)
    const files = {
      caFile: authority.file,
      certFile: workspace.path('client.pem'),
      keyFile: workspace.path('client.key'),
    }
    const ca = fileText(clients.file)
    await using t = await throughWith(files, true, ca)
    await read(t.p)
    expect(t.server.requests).toHaveLength(1)
    await using without = await throughWith({ ...NONE, caFile: authority.file }, true, ca)
    expect((await failure(read(without.p))).facts.class).toBe('Unavailable')
    expect(without.server.requests).toEqual([])
  })

  test('are read again when they changed, and the last good ones stay', async () => {
    using workspace = createWorkspace()
    using others = createAuthority('other.example')
    workspace.write('ca.pem', fileText(others.file))
    await using t = await throughWith({ ...NONE, caFile: workspace.path('ca.pem') }, false, '')
    expect((await failure(read(t.p))).message).toContain('--ca-file')
    workspace.write('ca.pem', fileText(authority.file))
    await read(t.p)
    workspace.write('ca.pem', 'nothing of use')
    const permit = await t.p.admit()
    expect((await permit.send(createRequest('{}', 'intent-1'))).value.id).toBe(PIPE)
  })
})

function fileText(file: string): string {
  return readFileSync(file, 'utf8')
}
