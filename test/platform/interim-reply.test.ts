import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { NO_PROXIES } from '../../src/lib/proxy.ts'
import { DIRECT, envelope, failure, PIPE, platform, sendCreate } from './support/platform.ts'
import { tcpServer } from './support/server.ts'

const DONE = envelope({ id: PIPE, name: 'orders' })
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
const REPLY = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${DONE.length}\r\n\r\n${DONE}`
const CUTS = Array.from({ length: 2 * CONTINUE.length }, (_, cut) => cut)

/** Answers each request with these parts, one after the other. */
function answering(parts: (n: number) => readonly string[]) {
  let requests = 0
  return (socket: Socket): void => {
    socket.on('data', (data: Buffer) => {
      if (!/^(?:GET|POST) /.test(data.toString())) return
      requests += 1
      void write(socket, parts(requests))
    })
  }
}

test.each([
  ['one', CONTINUE + REPLY],
  ['one of HTTP/1.0, with bare line feeds', `HTTP/1.0 100 \nx: y\n\n${REPLY}`],
  ['two, an early hint and a 102', `${CONTINUE}${CONTINUE}${HINTS}HTTP/1.1 102 Processing\r\n\r\n${REPLY}`],
  ['a thousand', CONTINUE.repeat(1_000) + REPLY],
  ['none', REPLY],
])('a create reads the reply after interim replies: %s', async (_, text) => {
  await using server = await tcpServer(answering(() => [text]))
  await using p = platform({ baseUrl: server.url })
  expect(await sendCreate(p)).toMatchObject({ value: { id: PIPE } })
})

test('an interim reply can be cut anywhere, and comes before each reply of a connection', async () => {
  const text = CONTINUE + REPLY
  await using server = await tcpServer(
    answering((n) =>
      [text.slice(0, CUTS[n]), text.slice(CUTS[n] ?? 0, -3), text.slice(-3)].filter((part) => part !== ''),
    ),
  )
  await using p = platform({ baseUrl: server.url })
  for (const _ of CUTS.slice(1)) expect(await p.read()).toMatchObject({ value: { id: PIPE } })
  expect(server.connections()).toBeLessThan(5)
})

test.each([
  ['not HTTP', 'SSH-2.0-x\r\n\r\n', 'came from .* not readable HTTP \\((?:HPE_|HTTPParserError)'],
  ['70 kB of header', REPLY.replace('\r\n', `\r\nx: ${'y'.repeat(70_000)}\r\n`), 'HTTP \\(UND_ERR_HEADERS'],
  ['two lengths', REPLY.replace(/(content-length: .*\r\n)/i, '$1$1'), 'HTTP \\(UND_ERR_RES_CONTENT_L'],
  ['nothing after an interim reply', CONTINUE, 'was cut before a reply came'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n', 'before a reply came'],
])('%s leaves the outcome unknown, and says why', async (_, text, says) => {
  await using server = await tcpServer((socket) => socket.on('data', () => socket.end(text)))
  await using p = platform({ baseUrl: server.url })
  const error = await failure(sendCreate(p))
  expect(error.facts.effect).toBe('unknown')
  expect(error.message).toMatch(new RegExp(says))
})

test('a header of 60 kB is read', async () => {
  await using server = await tcpServer(
    answering(() => [REPLY.replace('\r\n', `\r\nx: ${'y'.repeat(60_000)}\r\n`)]),
  )
  await using p = platform({ baseUrl: server.url })
  expect(await sendCreate(p)).toMatchObject({ value: { id: PIPE } })
})

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n'
/** First byte of a TLS handshake. */
const HELLO = 0x16

test.each([
  ['nothing', [ESTABLISHED], true],
  ['one 100', [CONTINUE + ESTABLISHED], true],
  ['one 100, cut into bytes', (CONTINUE + ESTABLISHED).split(''), true],
  ['a hundred of them', [CONTINUE.repeat(100), ESTABLISHED], true],
  ['one with fields and bare line feeds', [`HTTP/1.0 100 x\nvia: y\n\n${ESTABLISHED}`], true],
  ['an early hint and a 102', [HINTS, 'HTTP/1.1 102 Processing\r\n\r\n', ESTABLISHED], true],
  ['all of them mixed', [CONTINUE, HINTS, CONTINUE, ESTABLISHED], true],
  ['a 100, then a refusal', [CONTINUE, 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n'], '(403)'],
  ['a 100 and nothing more', [CONTINUE, ''], 'closed the connection before it reached the host'],
] as const)('before a proxy opens the way to a host: %s', async (_, parts, opens) => {
  const said: Buffer[] = []
  await using server = await tcpServer((socket) =>
    socket.on('data', (data: Buffer) => {
      said.push(data)
      if (data.toString().startsWith('CONNECT ')) void write(socket, parts)
      else socket.destroy()
    }),
  )
  const https = { origin: server.url, authorization: undefined, secrets: [], from: 'HTTPS_PROXY' }
  const network = { ...DIRECT, proxies: { ...NO_PROXIES, https } }
  await using p = platform({ baseUrl: 'https://platform.example', network })
  const { facts, message } = await failure(sendCreate(p))
  expect(facts.effect).toBe('none')
  expect(message).toContain(opens === true ? 'no connection' : opens)
  expect(said.slice(1).map(([first]) => first)).toEqual(opens === true ? [HELLO] : [])
})

/** An empty part ends the connection. */
async function write(socket: Socket, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    if (part === '') socket.end()
    else socket.write(part)
    await new Promise(setImmediate)
  }
}
