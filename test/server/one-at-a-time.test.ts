import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { MOST_AHEAD } from '../../src/server/connections/one-at-a-time.ts'
import { until } from '../support/until.ts'
import { fakeParts, resource } from './fake-parts.ts'
import { running } from './running.ts'

/** A server that counts what it was asked for, and a client that sends many requests without waiting for replies. */
async function asked(requests: number, path = '/api/v1/overview') {
  let looks = 0
  const parts = fakeParts({}, [resource('Pipe/orders')])
  const overview = () => {
    looks += 1
    return parts.overview()
  }
  const { port } = await running({ ...parts, overview })
  const socket = connect(port, '127.0.0.1')
  const progress = { said: '', closed: false }
  socket.setEncoding('utf8').on('data', (text: string) => {
    progress.said += text
  })
  socket.on('error', () => socket.destroy()).on('close', () => (progress.closed = true))
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(requests))
  const replies = () => progress.said.split('HTTP/1.1 200 OK').length - 1
  return { socket, progress, replies, looks: () => looks }
}

it('answers a few requests that one packet holds, each after the one before', async () => {
  const { socket, replies, progress } = await asked(1 + MOST_AHEAD)
  await until('all replies', () => replies() === 1 + MOST_AHEAD)
  expect(progress.closed).toBe(false)
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await until('one more', () => replies() === 2 + MOST_AHEAD)
  socket.destroy()
})

it('ends a connection that sends a thousand, and works on none of them but the first', async () => {
  const { progress, looks } = await asked(1_000)
  await until('its end', () => progress.closed)
  expect(looks()).toBeLessThanOrEqual(1)
})

it('begins nothing more for a client that has gone', async () => {
  const { socket, replies, looks } = await asked(1 + MOST_AHEAD, '/api/v1/events')
  await until('the stream', () => replies() === 1)
  const gone = new Promise((resolve) => socket.once('close', resolve))
  socket.destroy()
  await gone
  const { replies: others } = await asked(1)
  await until('another to be answered', () => others() === 1)
  expect(looks()).toBe(0)
})
