import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { httpPost } from '../../src/cli/compose-webhook.ts'
import { Secret } from '../../src/lib/secret.ts'
import { deliver } from '../../src/notify/delivery.ts'
import { openNetwork } from '../../src/platform/network.ts'
import { DIRECT } from '../platform/support/platform.ts'
import { httpServer, tcpServer } from '../platform/support/server.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/* One message over a real connection. No line about it holds the path of the URL or the secret. */

const MESSAGE = { id: 'm-1', body: '{"text":"Grüße"}' }
const SECRET = 'planted-signing-key'

/** @returns the attempts, and the error of the last one */
async function send(url: string, { signal = new AbortController().signal, retries = 0 } = {}) {
  const network = openNetwork(DIRECT, 5_000)
  const attempts: { attempt: number; code: string }[] = []
  const clock = createFakeClock(Date.now())
  const error = await deliver(
    MESSAGE,
    {
      readTarget: async () => ({ url: new URL(url), secret: new Secret(SECRET) }),
      post: httpPost(network, clock),
      confirm: async () => Infinity,
      clock,
      random: () => 0,
      userAgent: 'pipewright/test',
      onAttempt(attempt) {
        attempts.push(attempt)
        // The back-off of a random 0.
        void clock.advance(0)
      },
    },
    { signal, retries },
  ).catch((thrown: unknown) => thrown)
  await network.destroy()
  return { attempts, error }
}

test('a message arrives whole, with its query, and can be verified', async () => {
  await using server = await httpServer((response) => response.writeHead(204).end())
  const { attempts, error } = await send(`${server.url}/planted-path?key=planted-query`)
  expect(error).toBeUndefined()
  expect(attempts).toMatchObject([{ id: 'm-1', attempt: 1, code: '204', message: undefined }])
  const [request] = server.requests
  expect(request).toMatchObject({
    method: 'POST',
    url: '/planted-path?key=planted-query',
    body: MESSAGE.body,
    headers: { 'content-type': 'application/json', 'user-agent': 'pipewright/test', 'webhook-id': 'm-1' },
  })
  const time = String(request?.headers['webhook-timestamp'])
  const signed = createHmac('sha256', SECRET).update(`m-1.${time}.${MESSAGE.body}`).digest('base64')
  expect(request?.headers['webhook-signature']).toBe(`v1,${signed}`)
  expect(Math.abs(Number(time) - Date.now() / 1_000)).toBeLessThan(60)
})

test.each([
  [301, 'HTTP 301: a redirect, which is never followed'],
  [404, 'HTTP 404'],
  [500, 'HTTP 500'],
])('a receiver that says %i and repeats the message: %s', async (status, message) => {
  await using other = await httpServer((response) => response.end())
  await using server = await httpServer((response, { body, url, headers }) => {
    response.writeHead(status, { location: other.url })
    response.end(`${body} ${url} ${JSON.stringify(headers)} ${SECRET}`)
  })
  const { attempts, error } = await send(`${server.url}/planted-path`)
  expect(attempts).toMatchObject([{ code: String(status), message }])
  expect(`${String(error)} ${JSON.stringify(attempts)}`).not.toContain('planted')
  expect(other.requests).toEqual([])
})

test('a receiver that is not there is named by a code', async () => {
  const { url } = await (async () => {
    await using server = await httpServer((response) => response.end())
    return { url: server.url }
  })()
  const { attempts } = await send(`${url}/planted-path`)
  expect(attempts).toMatchObject([{ code: 'Connection', message: 'the connection failed (ECONNREFUSED)' }])
})

test('a receiver that cuts the first connection gets the message by the second', async () => {
  let count = 0
  await using server = await tcpServer((socket) => {
    count += 1
    if (count === 1) socket.destroy()
    else socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
  })
  const { attempts, error } = await send(`${server.url}/planted-path`, { retries: 3 })
  expect(error).toBeUndefined()
  expect(attempts.map(({ attempt, code }) => [attempt, code])).toEqual([
    [1, 'Connection'],
    [2, '200'],
  ])
})

test('a stop ends an attempt that hangs', async () => {
  const stopping = new AbortController()
  await using server = await httpServer(() => stopping.abort(new Error('stop')))
  const ended = await send(`${server.url}/planted-path`, { signal: stopping.signal, retries: 3 })
  expect(ended).toMatchObject({ error: new Error('stop') })
})
