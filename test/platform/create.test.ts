import { PIPE as PIPE_KIND } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { createServer, Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { NotLeading } from '../../src/contract/leadership.ts'
import type { RemoteError } from '../../src/contract/remote-error.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { realClock } from './support/clock.ts'
import {
  access,
  admitOptions,
  createRequest,
  envelope,
  failure,
  PIPE,
  facing,
  platform,
  readOptions,
} from './support/platform.ts'
import { httpServer } from './support/server.ts'
import { listenHere } from '../support/listen-here.ts'
import { createConnection } from '../../src/platform/send-create.ts'

/* What holds around the one request of a create. */

const DONE = envelope({ id: PIPE, name: 'orders' })
const REPLY = `HTTP/1.1 200 OK\r\ncontent-length: ${DONE.length}\r\n\r\n${DONE}`

/** How the client ended its connections, as TCP tells it; nothing is answered. */
async function silentServer(onData: (socket: Socket) => void = () => undefined) {
  const endings: string[] = []
  const server = createServer((socket) => {
    let ending = ''
    socket.on('data', () => onData(socket))
    socket.on('end', () => (ending ||= 'closed'))
    socket.on('error', (error: NodeJS.ErrnoException) => (ending ||= error.code ?? 'error'))
    socket.on('close', () => endings.push(ending))
  })
  const port = await listenHere(server)
  return {
    url: `http://127.0.0.1:${port}`,
    endings,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

function mayNotAct(): void {
  throw new NotLeading('another checkout', false, 90_000)
}

describe('a create', () => {
  test('later than it may go out is not sent, has no effect, and leaves no connection', async () => {
    await using server = await silentServer((socket) => void socket.end('sent'))
    await using p = platform({ baseUrl: server.url })
    const permit = await p.admit()
    const late = { ...createRequest('{}', 'intent-1'), notAfter: realClock.monotonic() - 1 }
    const error = await failure(permit.send(late))
    expect(error.facts).toMatchObject({ class: 'Unavailable', effect: 'none' })
    expect(error.message).toContain('no request was sent')
    await expect.poll(() => server.endings).toEqual(['ECONNRESET'])
  })

  test.each([
    ['after-fence', 'Unavailable, none'],
    ['after-connect', 'Unavailable, none'],
    ['nowhere', PIPE],
  ])('that fails %s: %s', async (at, end) => {
    const fail = async (point: string) => {
      if (point === at) throw new Error('failed')
    }
    await using server = await silentServer((socket) => void socket.write(REPLY))
    await using p = platform({ baseUrl: server.url, createDeadlineMs: 3_600_000, fail })
    const ended = p.create().then(
      ({ value }) => value.id,
      ({ facts }: RemoteError) => `${facts.class}, ${facts.effect}`,
    )
    expect(await ended).toBe(end)
    await expect.poll(() => server.endings).toHaveLength(at === 'after-fence' ? 0 : 1)
  })

  test('gets one connection: a second one is refused', async () => {
    const socket = new Socket()
    const { connect, wasReady } = createConnection(async () => ({ socket, tcp: socket }), undefined)
    const made = () =>
      new Promise((resolve) =>
        connect({ hostname: 'h', protocol: 'http:', port: '1' }, (...of) => resolve(of)),
      )
    expect([await made(), wasReady()]).toEqual([[null, socket], true])
    expect(await made()).toEqual([new Error('one connection for one create'), null])
  })

  test.each(['create', 'upsert'] as const)(
    'or an upsert is not sent after leadership has ended: %s',
    async (what) => {
      await using p = await facing((response) => response.end(DONE), {
        confirm: async () => realClock.monotonic() - 1,
      })
      expect((await failure(p[what]())).facts).toMatchObject({ class: 'Unavailable', effect: 'none' })
      expect(p.server.requests).toEqual([])
    },
  )

  test('that is known not to be confirmed is not begun: no right to send is given, and nothing is written down for it', async () => {
    await using p = await facing((response) => response.end(DONE), { assertMayAct: mayNotAct })
    const error = await failure(p.admit())
    expect(error.facts).toMatchObject({ class: 'NotLeading', effect: 'none', retryAfterMs: 90_000 })
    expect(p.server.requests).toEqual([])
  })

  test('without a reply resets its connection, so that the kernel does not deliver it later', async () => {
    await using server = await silentServer()
    await using p = platform({ baseUrl: server.url, clock: createTurningClock() })
    const error = await failure(p.create())
    expect(error.facts).toMatchObject({ class: 'Unavailable', effect: 'unknown' })
    await expect.poll(() => server.endings).toEqual(['ECONNRESET'])
  })

  test('whose other side says no more, and takes the rest, is reset as well', async () => {
    await using server = await silentServer((socket) => void socket.end())
    await using p = platform({ baseUrl: server.url })
    await failure(p.create())
    await expect.poll(() => server.endings).toEqual(['ECONNRESET'])
  })

  test('with a whole reply closes its connection in good order', async () => {
    await using server = await silentServer((socket) => void socket.write(REPLY))
    await using p = platform({ baseUrl: server.url })
    expect((await p.create()).value.id).toBe(PIPE)
    await expect.poll(() => server.endings).toEqual(['closed'])
  })

  test('whose reply lies in the socket when its timer is late has been answered', async () => {
    await using server = await httpServer((response) => response.end(DONE))
    let late = 0
    const clock = { ...realClock, monotonic: () => realClock.monotonic() + late }
    const timers: (() => void)[] = []
    const stopped = {
      ...clock,
      after(ms: number, callback: () => void) {
        if (ms === 700) timers.push(callback)
        return ms === 700 ? () => undefined : realClock.after(ms, callback)
      },
    }
    await using p = platform({ baseUrl: server.url, clock: stopped, createDeadlineMs: 700 })
    const sending = p.create()
    await expect.poll(() => server.requests.length).toBe(1)
    // The process stands still while the reply arrives, and wakes up after its time.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    late = 60_000
    for (const timer of timers) timer()
    expect((await sending).value.id).toBe(PIPE)
  })
})

describe('the id in a reply that is no proof', () => {
  const BEHIND = `{"result":{"source":{"id":1,"a":[{"b":"}\\""}]},"name":"id","id" : "${PIPE}", "x`
  const NUMBER = `{"status":200,"requestId":"r","result":{"id":12345678901234567890,"name":"orders"}}`
  test.each([
    ['a body that was cut behind it', DONE.slice(0, -3), PIPE, 'cut'],
    ['a whole body in a reply that was cut', DONE, PIPE, 'cut'],
    ['a body that was cut in it', DONE.slice(0, DONE.indexOf(PIPE) + 9), undefined, 'cut'],
    ['a number keeps its digits', NUMBER, '12345678901234567890', 'whole'],
    ['another thing of the reply is not it', `{"result":{"source":{"id":"${PIPE}"},"id":`, undefined, 'cut'],
    ['it may stand behind others, with braces and quotes in them', BEHIND, PIPE, 'cut'],
    ['a number that may go on is not it', '{"result":{"source":{},"id":1234', undefined, 'cut'],
    ['an exponent is as it came', '{"result":{"source":{"x":[]},"id":-1e400}}', '-1e400', 'whole'],
    ['nothing', '{"status":200}', undefined, 'whole'],
  ])('%s', async (_, body, is, sent) => {
    await using p = await facing((response) => {
      response.writeHead(200, { 'content-length': body.length + (sent === 'cut' ? 9 : 0) })
      if (sent === 'cut') response.write(body, () => response.destroy())
      else response.end(body)
    })
    const { facts, message } = await failure(p.create())
    expect(facts).toMatchObject({ class: 'BadReply', effect: 'unknown', repliedId: is })
    expect(/the reply held the id "(.+?)"/.exec(message)?.[1]).toBe(is)
  })

  test('also of an error after the work', async () => {
    await using p = await facing((response) => response.writeHead(500).end(DONE))
    const { facts } = await failure(p.create())
    expect(facts).toMatchObject({ effect: 'unknown', repliedId: PIPE })
  })
})

describe('a permit', () => {
  test.each([2, 1])(
    'asks for the pipe that is to be replaced, and then creates, within a budget of %i',
    async (requests) => {
      const startedAt = realClock.monotonic()
      const budget = { requests, windowMs: 1_500 }
      await using p = await facing(
        (response, { method }) => {
          const status = method === 'GET' ? 404 : 200
          response.writeHead(status).end(envelope({ id: PIPE, name: 'orders' }, status))
        },
        { budget },
      )
      const permit = await p.client.admitCreate(PIPE_KIND, access, admitOptions(undefined, true))
      const missing = await failure(
        permit.read({ kind: PIPE_KIND, service: access, id: PIPE }, readOptions()),
      )
      expect(missing.facts.class).toBe('Missing')
      await permit.send(createRequest('{}', 'intent-1'))
      permit.release()
      expect(p.server.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
      expect(realClock.monotonic() - startedAt > 1_500).toBe(requests === 1)
    },
  )

  test('that is not used gives its places back', async () => {
    await using p = platform({ baseUrl: 'http://127.0.0.1:9', budget: { requests: 2, windowMs: 60_000 } })
    const permit = await p.client.admitCreate(PIPE_KIND, access, admitOptions(undefined, true))
    expect(p.client.budgets()).toMatchObject([{ used: 2 }])
    permit.release()
    expect(p.client.budgets()).toMatchObject([{ used: 0 }])
  })
})

test('the body of an upsert is made anew before each attempt, and what it throws is thrown', async () => {
  await using p = await facing((response, _request, n) => {
    response.writeHead(n === 1 ? 503 : 200).end(envelope({ id: 'e-1' }, n === 1 ? 503 : 200))
  })
  let made = 0
  await p.client.upsert(QUERY_ENDPOINT, access, async () => `{"n":${(made += 1)}}`, readOptions())
  expect(p.server.requests.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":2}'])
  const outdated = new Error('no longer so')
  const refused = p.client.upsert(QUERY_ENDPOINT, access, () => Promise.reject(outdated), readOptions())
  await expect(refused).rejects.toBe(outdated)
  expect(p.server.requests).toHaveLength(2)
})
