import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openNetwork } from '../../src/platform/network.ts'
import { DIRECT } from '../platform/support/platform.ts'
import { httpPost } from '../../src/cli/compose-notifier.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { NotLeading } from '../../src/contract/leadership.ts'
import { deliver, type Delivery } from '../../src/notify/delivery.ts'
import { readSecretFile } from '../../src/platform/secret-store.ts'
import { httpServer, tcpServer, type Received } from '../platform/support/server.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'

const KEY = 'planted-signing-key'
const MESSAGE = { id: 'm-1', body: '{"sentence":"Grüße"}' }

/** Sends one message to an address, as a target does. */
async function send(
  address: string,
  options: {
    readonly key?: string | undefined
    readonly clock?: typeof systemClock
    readonly signal?: AbortSignal
    readonly confirm?: () => Promise<number>
  } = {},
): Promise<Delivery> {
  const folder = mkdtempSync(join(tmpdir(), 'pipewright-notify-'))
  const network = openNetwork(DIRECT, 5_000)
  try {
    writeFileSync(join(folder, 'url'), `${address}\n`)
    if (options.key !== undefined) writeFileSync(join(folder, 'key'), options.key)
    return await deliver(
      MESSAGE,
      {
        urlFile: join(folder, 'url'),
        keyFile: options.key === undefined ? undefined : join(folder, 'key'),
        allowInsecureHttp: false,
      },
      {
        confirm: options.confirm ?? (async () => Infinity),
        post: httpPost(network, options.clock ?? systemClock),
        readSecret: readSecretFile,
        clock: options.clock ?? systemClock,
        userAgent: 'pipewright/test',
      },
      options.signal ?? new AbortController().signal,
    )
  } finally {
    await network.destroy()
    rmSync(folder, { recursive: true })
  }
}

test('a message arrives whole, with its query, and can be verified', async () => {
  await using server = await httpServer((response) => response.writeHead(204).end())
  expect(await send(`${server.url}/hook/planted-path?key=planted-query`, { key: KEY })).toEqual({
    result: 'delivered',
    code: '204',
  })
  const [request] = server.requests
  expect(request).toMatchObject({
    method: 'POST',
    url: '/hook/planted-path?key=planted-query',
    body: MESSAGE.body,
    headers: { 'content-type': 'application/json', 'user-agent': 'pipewright/test', 'webhook-id': 'm-1' },
  })
  const timestamp = String(request?.headers['webhook-timestamp'])
  const signed = createHmac('sha256', KEY).update(`m-1.${timestamp}.${MESSAGE.body}`).digest('base64')
  expect(request?.headers['webhook-signature']).toBe(`v1,${signed}`)
  expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(60)
})

const NOT_TOLD: readonly (readonly [string, () => Promise<number>, string])[] = [
  [
    'another one has taken over',
    () => Promise.reject(new NotLeading('two has taken over', true)),
    'NotLeading',
  ],
  ['another one may have taken over by now', async () => systemClock.monotonic() - 1, 'Connection'],
]

test.each(NOT_TOLD)('nothing is sent when %s', async (_, confirm, code) => {
  await using server = await httpServer((response) => response.end())
  expect(await send(server.url, { confirm })).toMatchObject({ result: 'again', code })
  expect(server.requests).toEqual([])
})

type Answer = (response: ServerResponse, request: Received) => void

const ANSWERS: readonly (readonly [string, Answer, Partial<Delivery>])[] = [
  ['200', (response) => response.end('ok'), { result: 'delivered', code: '200' }],
  [
    '200 with a reply without end',
    (response) => {
      const pour = () => {
        while (response.write('x'.repeat(65_536)));
      }
      response.on('drain', pour)
      pour()
    },
    { result: 'delivered', code: '200' },
  ],
  [
    '200 and a cut',
    (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setTimeout(() => response.destroy(), 20)
    },
    { result: 'delivered', code: '200' },
  ],
  [
    '429 with seconds',
    (response) => response.writeHead(429, { 'retry-after': '30' }).end(),
    { result: 'again', code: '429', retryAfterMs: 30_000 },
  ],
  [
    '429 with a time that is nonsense',
    (response) => response.writeHead(429, { 'retry-after': '99999999999' }).end(),
    { result: 'again', code: '429', retryAfterMs: 15 * 60_000 },
  ],
  ['500', (response) => response.writeHead(500).end('oops'), { result: 'again', why: 'HTTP 500: oops' }],
  [
    '400',
    (response) => response.writeHead(400).end('invalid_blocks'),
    { result: 'refused', why: 'HTTP 400: invalid_blocks' },
  ],
  ['413', (response) => response.writeHead(413).end(), { result: 'refused', why: 'HTTP 413' }],
  [
    '404, as Slack says of an address that was revoked',
    (response) => response.writeHead(404).end('no_service'),
    { result: 'address', code: '404' },
  ],
  [
    'a cut before anything',
    (response) => response.socket?.destroy(),
    { result: 'again', code: 'Connection' },
  ],
]

test.each(ANSWERS)('the answer %s', async (_, answer, expected) => {
  await using server = await httpServer(answer)
  expect(await send(server.url)).toMatchObject(expected)
  expect(server.requests).toHaveLength(1)
})

test('a redirect is not followed, whoever it leads to', async () => {
  await using thief = await httpServer((response) => response.end())
  for (const status of [301, 302, 303, 307, 308]) {
    await using server = await httpServer((response) =>
      response.writeHead(status, { location: `${thief.url}/stolen` }).end(),
    )
    expect(await send(server.url, { key: KEY })).toMatchObject({ result: 'address', code: String(status) })
  }
  expect(thief.requests).toEqual([])
})

test('a receiver that hangs is given up after ten seconds', async () => {
  await using server = await tcpServer(() => undefined)
  const clock = createFakeClock()
  const sent = send(server.url, { clock })
  await until('the request to be on its way', () => server.connections() === 1)
  await clock.advance(9_999)
  expect(clock.pending).toBe(1)
  await clock.advance(1)
  expect(await sent).toMatchObject({ result: 'again', code: 'Timeout' })
})

test('a stop ends it at once', async () => {
  await using server = await tcpServer(() => undefined)
  const stop = new AbortController()
  const sent = send(server.url, { signal: stop.signal })
  await until('the request to be on its way', () => server.connections() === 1)
  stop.abort(new Error('stop'))
  expect(await sent).toEqual({ result: 'stopped' })
})

test('nobody there is no reason to give up', async () => {
  const closed = await httpServer((response) => response.end())
  await closed[Symbol.asyncDispose]()
  expect(await send(closed.url)).toMatchObject({
    result: 'again',
    code: 'Connection',
    why: 'the connection failed (ECONNREFUSED)',
  })
})

describe('an address', () => {
  test.each([
    ['that is none', 'hooks.example/planted', 'does not hold an http or https URL'],
    ['of another kind', 'file:///planted', 'does not hold an http or https URL'],
    ['with a password', 'https://user:planted@hooks.example/', 'carries a user or a password'],
    ['over plain http to others', 'http://hooks.example/planted', 'is plain http:'],
    ['that is empty', '', 'is empty'],
  ])('%s is reported, without showing it', async (_, address, why) => {
    const delivery = await send(address)
    expect(delivery).toMatchObject({ result: 'address', code: 'NoAddress' })
    expect(JSON.stringify(delivery)).toContain(why)
    expect(JSON.stringify(delivery)).not.toContain('planted')
  })

  test('without its key is not used: nothing goes out unsigned', async () => {
    await using server = await httpServer((response) => response.end())
    expect(await send(server.url, { key: '' })).toMatchObject({ result: 'address' })
    expect(await send(server.url, { key: 'whsec_$$$' })).toMatchObject({ result: 'address' })
    expect(server.requests).toEqual([])
  })

  test('that a receiver repeats in its reply is not shown', async () => {
    await using server = await httpServer((response, request) => {
      const said = `no hook ${request.url} at http://${request.headers.host ?? ''}${request.url}, nor ${KEY}`
      response.writeHead(400).end(said)
    })
    const delivery = await send(`${server.url}/services/T0planted/B0planted?token=planted-query`, {
      key: KEY,
    })
    expect(delivery).toMatchObject({ result: 'refused' })
    expect(JSON.stringify(delivery)).toContain('no hook')
    expect(JSON.stringify(delivery)).not.toMatch(/planted/)
  })
})
