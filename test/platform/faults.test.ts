import { ALERT as SERVICE_ALERT } from '../../src/kinds/profiles/clickhouse-cloud/alert/kind.ts'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Effect, ErrorClass } from '../../src/contract/remote-error.ts'
import { openDirectly } from '../../src/platform/open-connection.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import {
  access,
  createRequest,
  envelope,
  facing,
  facingServer,
  failure,
  KEY_SECRET,
  PIPE,
  platform,
  readOptions,
} from './support/platform.ts'
import { tcpServer } from './support/server.ts'
import { listenHere } from '../support/listen-here.ts'

const DONE = envelope({ id: PIPE, name: 'orders' })
const SECRET = 'p4ss"w0rd-in-the-body'
const BODY = JSON.stringify({ name: 'orders', source: { kafka: { credentials: { password: SECRET } } } })

function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }
}

interface Row {
  readonly why: string
  readonly answer: (response: ServerResponse) => void
  readonly kind: ErrorClass
  readonly effect: Effect
  /** Attempts of a reading or an upsert. */
  readonly attempts: number
  readonly says: string
  /** Of GET pipe, where it is another one. */
  readonly readKind?: ErrorClass
  readonly readAttempts?: number
}

const REQUEST_ID = 'b6a1f0de-0000-4000-8000-000000000001'

/** An error in the words of the platform. */
function refusal(status: number, error = 'no'): string {
  return JSON.stringify({ status, requestId: REQUEST_ID, error })
}

const HTML = '<html><head><title>502 Bad Gateway</title></head><body>…</body></html>'

type Outcome = Pick<Row, 'kind' | 'effect' | 'attempts' | 'readKind' | 'readAttempts'>

const REFUSED: Outcome = { kind: 'Rejected', effect: 'none', attempts: 1 }
const FORBIDDEN: Outcome = { kind: 'AuthFailed', effect: 'none', attempts: 1 }
const UNAVAILABLE: Outcome = { kind: 'Unavailable', effect: 'unknown', attempts: 3 }
const BAD_REPLY: Outcome = { kind: 'BadReply', effect: 'unknown', attempts: 3 }
const NOT_OF_THE_PLATFORM: Outcome = {
  kind: 'Rejected',
  effect: 'unknown',
  attempts: 1,
  readKind: 'Unavailable',
  readAttempts: 3,
}

const BUSY: Outcome = { kind: 'Unavailable', effect: 'unknown', attempts: 1 }
const IDLE: Outcome = { kind: 'ServiceIdle', effect: 'none', attempts: 1 }
const THROTTLED: Outcome = { kind: 'Throttled', effect: 'none', attempts: 1 }
const REDIRECTED: Outcome = { kind: 'Redirected', effect: 'unknown', attempts: 1 }

function row(why: string, answer: Row['answer'], says: string, outcome: Outcome): Row {
  return { why, answer, says, ...outcome }
}

const ROWS: readonly Row[] = [
  ...(
    [
      [
        'a 400 of the platform says in clear words that nothing was done',
        400,
        REFUSED,
        'and refused the request: no',
      ],
      ['a 409 likewise', 409, REFUSED, 'answered 409'],
      ['a 422 likewise', 422, REFUSED, ': no'],
      ['a 4xx that nobody thought of, too', 418, REFUSED, 'answered 418, and refused the request'],
      ['a 401 is about the credentials', 401, FORBIDDEN, 'Check that key id and key secret are not swapped'],
      [
        'a 403 is about the operation and the ids',
        403,
        FORBIDDEN,
        'Check organizationId and serviceId in the Service',
      ],
    ] as const
  ).map(([why, status, outcome, says]) => row(why, json(status, refusal(status)), says, outcome)),
  row(
    'a 404 of the platform: the service is not there, or the pipe is missing',
    json(404, envelope(null, 404)),
    'answered 404, it knows no such service',
    { ...REFUSED, readKind: 'Missing' },
  ),
  ...(
    [
      ['of a proxy', HTML, 'an HTML page titled “502 Bad Gateway”'],
      ['in JSON, but not in the envelope,', '{"message":"no Route matched"}', 'no Route'],
      ['that speaks of another status', envelope(null, 200), '404'],
      ['with a request id that is no UUID', '{"status":404,"requestId":"req-17","message":"no"}', ': no'],
      ['that tells no status', `{"requestId":"${REQUEST_ID}","message":"no Route"}`, 'no Route'],
    ] as const
  ).map(([which, body, says]): Row => {
    return { why: `a 404 ${which} proves nothing`, answer: json(404, body), ...NOT_OF_THE_PLATFORM, says }
  }),
  ...(
    [
      [403, HTML, 'AuthFailed'],
      [400, '{"error":"no topics"}', 'Rejected'],
      [425, '', 'ServiceIdle'],
    ] as const
  ).map(([status, body, kind]): Row => ({
    why: `a ${status} of somebody between may come after the work`,
    answer: json(status, body),
    kind,
    effect: 'unknown',
    attempts: 1,
    says: 'might have been created',
  })),
  ...[408, 444, 460, 463, 499, 500].map((status) =>
    row(
      `a ${status} may come after the work`,
      json(status, refusal(status)),
      'might have been created',
      UNAVAILABLE,
    ),
  ),
  row('a 502 of a proxy too', json(502, HTML), '“502 Bad Gateway”', UNAVAILABLE),
  row(
    'a 503 even with Retry-After is no promise',
    json(503, '', { 'retry-after': '1' }),
    'answered 503',
    BUSY,
  ),
  row(
    'a 424 of the platform: it is idle',
    json(424, refusal(424), { 'retry-after': '7' }),
    'try again in 7s',
    IDLE,
  ),
  row('a 429 asks to wait', json(429, '', { 'x-ratelimit-reset': '9' }), 'wait 9s', THROTTLED),
  ...[300, 304, 307].map((status) => {
    const answer = json(status, DONE, { location: '/elsewhere' })
    return row(`a ${status} is never followed, whatever is in it`, answer, 'check --base-url', REDIRECTED)
  }),
  ...(
    [
      ['with HTML', 200, HTML],
      ['with nothing', 200, ''],
      ['without an id', 200, envelope({ name: 'orders' })],
      ['with an id that is no text', 200, envelope({ id: 7 })],
      ['with a list', 200, '[]'],
      ['without content', 204, ''],
      ['that speaks of a failure', 200, envelope({ id: PIPE, name: 'orders' }, 500)],
    ] as const
  ).map(([which, status, body]): Row => ({
    why: `a success ${which} is no answer`,
    answer: json(status, body),
    ...BAD_REPLY,
    says: `answered ${status}, but without the expected content`,
  })),
  ...(
    [
      ['half a body', { 'content-length': DONE.length }, DONE.slice(0, 60)],
      ['half a chunked body', {}, DONE.slice(0, 60)],
      ['a whole result in a body that was cut', { 'content-length': DONE.length + 9 }, DONE],
    ] as const
  ).map(([which, headers, body]): Row => ({
    why: `${which} is no answer`,
    answer: (r) => void r.writeHead(200, headers).write(body, () => r.destroy()),
    ...BAD_REPLY,
    says: 'cut before the reply was complete',
  })),
  row(
    'half a body that ends with the connection is no answer',
    (r) => void r.socket?.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${DONE.slice(0, 60)}`),
    'without the expected content',
    BAD_REPLY,
  ),
  row(
    'a body over the limit is not read',
    json(200, envelope({ id: PIPE, name: 'x'.repeat(9_000) })),
    'the reply is too large',
    BAD_REPLY,
  ),
  ...(
    [
      [
        'a hint that a reply will come',
        'cut before',
        (r) => r.writeEarlyHints({ link: '</x>; rel=preload' }, () => r.destroy()),
      ],
      ['a reset after the request', 'cut before a reply came', (r) => void r.socket?.resetAndDestroy()],
      ['an end after the request', 'cut before a reply came', (r) => void r.socket?.end()],
      ['a reply that is not HTTP', 'not readable HTTP', (r) => void r.socket?.end('SSH-2.0-OpenSSH_9\r\n')],
    ] as const satisfies readonly (readonly [string, string, Row['answer']])[]
  ).map(([which, says, answer]): Row => ({ why: `${which} proves nothing`, answer, ...UNAVAILABLE, says })),
]

test.each(ROWS)('$why', async ({ answer, kind, effect, says, attempts, readKind, readAttempts }) => {
  await using creating = await facing(answer, { maxReplyBytes: 8_192 })
  const error = await failure(creating.create(BODY))
  expect(error.facts).toMatchObject({ class: kind, effect })
  expect(error.message).toContain(says)
  expect(creating.server.requests.map((request) => request.method)).toEqual(['POST'])
  expect(creating.server.connections()).toBe(1)

  await using reading = await facing(answer, { maxReplyBytes: 8_192 })
  expect((await failure(reading.read())).facts).toMatchObject({ class: readKind ?? kind, effect: 'none' })
  const { requests } = reading.server
  expect(requests).toHaveLength(readAttempts ?? attempts)
  expect(reading.events.filter((event) => event.type === 'RequestFinished')).toHaveLength(requests.length)

  await using upserting = await facing(answer, { maxReplyBytes: 8_192 })
  expect((await failure(upserting.upsert())).facts).toMatchObject({ class: kind, effect })
  expect(upserting.server.requests).toHaveLength(attempts)
})

test.each([
  ['a 201 that brings what is promised is as good', 201, DONE],
  ['a result of a shape we do not expect still brings its id', 200, envelope({ id: PIPE, state: 7 })],
])('create: %s', async (_why, status, body) => {
  await using t = await facing(json(status, body))
  expect((await t.create()).value.id).toBe(PIPE)
})

test('a reading is repeated until it works, each time in the budget', async () => {
  await using t = await facing((response, _request, n) =>
    json(n < 3 ? 503 : 200, n < 3 ? '' : DONE)(response),
  )
  expect((await t.read()).value.id).toBe(PIPE)
  expect(t.client.budgets()).toMatchObject([{ credential: 'analytics-api', used: 3 }])
  const codes = t.events.map((event) => event.type === 'RequestFinished' && event.code)
  expect(codes).toEqual(['503', '503', '200'])
})

function deep(status: number): string {
  return `{"status":${status},"error":${'['.repeat(20_000)}1${']'.repeat(20_000)},"result":{"id":"${PIPE}"}}`
}

test('a reply that is nested deeper than the stack has its id, or is an error of the platform', async () => {
  await using created = await facing(json(200, deep(200)))
  const { facts } = await failure(created.create())
  expect(facts).toMatchObject({ class: 'BadReply', effect: 'unknown', repliedId: PIPE })
  await using refused = await facing(json(500, deep(500)), { idempotentRetries: 0 })
  expect((await failure(refused.read())).facts.class).toBe('Unavailable')
})

test('create: an empty id is none', async () => {
  await using t = await facing(json(200, envelope({ id: '' })))
  const { facts } = await failure(t.create())
  expect(facts).toMatchObject({ class: 'BadReply', effect: 'unknown' })
  expect(facts.reply?.reveal()).toBe(envelope({ id: '' }))
})

test('a reply about another pipe or alert is no answer', async () => {
  const other = envelope({ id: 'ffffffff-0000-4000-8000-000000000000' })
  await using t = await facing(json(200, other), { idempotentRetries: 0 })
  const alert = { kind: SERVICE_ALERT, service: access, id: '66d0f1a2b3c4d5e6f7a8b9c2' }
  for (const reading of [t.read(), t.client.read(alert, readOptions())])
    expect((await failure(reading)).facts.class).toBe('BadReply')
})

test('nobody listens: nothing was done, and only a reading tries again', async () => {
  await using p = platform({ baseUrl: `http://127.0.0.1:${await closedPort()}` })
  const created = await failure(p.create())
  expect(created.facts).toMatchObject({ class: 'Unavailable', effect: 'none' })
  expect(created.message).toContain('it was refused (ECONNREFUSED)')
  const upserted = await failure(p.upsert())
  expect(upserted.facts).toMatchObject({ class: 'Unavailable', effect: 'none', transient: true })
  expect(p.events.filter((event) => event.type === 'RequestFinished')).toHaveLength(4)
})

test.each<readonly [string, string, (socket: Socket) => void]>([
  ['speaks no TLS', 'ERR_SSL', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['closes during the handshake', 'ECONNRESET', (socket) => void socket.destroy()],
  ['resets during the handshake', 'ECONNRESET', (socket) => void socket.resetAndDestroy()],
])('a server that %s (%s): no request was sent, on one connection', async (_how, code, onConnection) => {
  const server = await tcpServer(onConnection)
  await using t = facingServer(server, {}, server.url.replace('http:', 'https:'))
  const { facts, message } = await failure(t.create())
  expect(facts).toMatchObject({ class: 'Unavailable', effect: 'none' })
  expect(message).toContain(code)
  expect(server.connections()).toBe(1)
})

test('a connection that is closed before TLS begins is an error at once', async () => {
  await using server = await tcpServer((socket) => socket.destroy())
  const current = async () => {
    await expect.poll(() => server.open()).toBe(0)
    await new Promise(setImmediate)
    return undefined
  }
  const { port } = new URL(server.url)
  const opening = openDirectly({ current }, 3_600_000)({ hostname: '127.0.0.1', protocol: 'https:', port })
  await expect(opening).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('a TLS handshake that hangs until the deadline: no request was sent', async () => {
  const server = await tcpServer(() => undefined)
  const options = { createDeadlineMs: 5_000, clock: createTurningClock() }
  await using t = facingServer(server, options, server.url.replace('http:', 'https:'))
  const error = await failure(t.create())
  expect(error.facts).toMatchObject({ class: 'Unavailable', effect: 'none' })
  expect(error.message).toContain('no connection to')
})

test('a server that takes the connection and resets it before it reads: nobody knows', async () => {
  await using t = facingServer(
    await tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
  )
  expect((await failure(t.create())).facts).toMatchObject({ class: 'Unavailable', effect: 'unknown' })
  expect(t.server.connections()).toBe(1)
})

test('a hang ends by the deadline of a create, and by the time limit of each attempt of a reading', async () => {
  await using t = await facing(() => undefined, { clock: createTurningClock() })
  const created = await failure(t.create())
  expect(created.facts).toMatchObject({ class: 'Unavailable', effect: 'unknown' })
  expect(created.message).toContain('no reply from')
  expect(t.server.requests).toHaveLength(1)
  expect((await failure(t.read())).facts).toMatchObject({ class: 'Unavailable', transient: true })
  expect(t.server.requests).toHaveLength(4)
})

test('a body that trickles ends by the same limit', async () => {
  await using t = await facing((response) => void response.writeHead(200).write(DONE.slice(0, 20)), {
    clock: createTurningClock(),
  })
  const error = await failure(t.create())
  expect(error.facts).toMatchObject({ class: 'BadReply', effect: 'unknown', httpStatus: 200 })
  expect(error.message).toContain('not complete in time')
})

test('a stop ends a reading with its own reason, and leaves a create alone', async () => {
  const stopping = new AbortController()
  const { signal } = stopping
  const reason = new Error('stopping')
  await using t = await facing((response, request) => {
    stopping.abort(reason)
    if (request.method === 'POST') setImmediate(() => json(200, DONE)(response))
  })
  const permit = await t.admit(signal)
  await expect(t.read(signal)).rejects.toBe(reason)
  expect((await permit.send(createRequest(BODY, 'intent-1'))).value.id).toBe(PIPE)
  await expect(t.admit(signal)).rejects.toBe(reason)
  expect(t.server.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
})

test('a stop waits for the reply to a change, and begins no second attempt', async () => {
  const stopping = new AbortController()
  await using t = await facing((response) => {
    stopping.abort(new Error('stopping'))
    setImmediate(() => json(200, DONE)(response))
  })
  expect((await t.upsert(stopping.signal)).value.id).toBe(PIPE)
  await expect(t.upsert(stopping.signal)).rejects.toThrow('stopping')
  expect(t.server.requests).toHaveLength(1)
})

test('a permit sends once', async () => {
  await using t = await facing(json(200, DONE))
  const permit = await t.admit()
  await permit.send(createRequest(BODY, 'intent-1'))
  await expect(permit.send(createRequest(BODY, 'intent-1'))).rejects.toThrow('used twice')
  expect(t.server.requests).toHaveLength(1)
})

test('a listener that throws does not cost us the id', async () => {
  await using t = await facing(json(200, DONE), {
    emit: () => {
      throw new Error('a bug of telemetry')
    },
  })
  expect((await t.create()).value.id).toBe(PIPE)
})

test('a platform that repeats what we sent does not make us repeat it', async () => {
  await using t = await facing((response, { headers, body }) =>
    json(400, JSON.stringify({ error: `${headers.authorization} ${body} ${KEY_SECRET}` }))(response),
  )
  const { message } = await failure(t.create(BODY))
  const basic = Buffer.from(`key-id-5f2d:${KEY_SECRET}`).toString('base64')
  expect(message).toContain('Basic [secret]')
  for (const secret of [SECRET, 'w0rd-in-the', KEY_SECRET, basic]) expect(message).not.toContain(secret)
})

test('without a base URL the message names the setting', async () => {
  await using p = platform({})
  const created = await failure(p.admit())
  expect(created.facts).toMatchObject({ class: 'Unavailable', effect: 'none', transient: false })
  expect(created.message).toContain('--base-url')
  const alert = await failure(p.client.read({ kind: ALERT, service: undefined, id: 'a' }, readOptions()))
  expect(alert.message).toContain('--alerts-base-url')
})

test('20 readings at once under one stop signal leave no listener and no warning behind', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  const { signal } = new AbortController()
  await using t = await facing(json(200, DONE))
  await Promise.all(Array.from({ length: 20 }, () => t.read(signal)))
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

/** A port on which nobody listens: one that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listenHere(server)
  await new Promise((resolve) => {
    server.close(resolve)
  })
  return port
}
