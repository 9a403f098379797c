import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { fastify } from 'fastify'
import type { Event } from '../../src/contract/events.ts'
import { limitConnections, openListener } from '../../src/server/server.ts'
import { until } from '../support/until.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { fakeParts } from './fake-parts.ts'
import { running } from './running.ts'
import { listenHere } from '../support/listen-here.ts'

const open: { servers: Server[]; sockets: Socket[] } = { servers: [], sockets: [] }

afterEach(() => {
  for (const socket of open.sockets.splice(0)) socket.destroy()
  for (const server of open.servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

/** A server of three connections. `/wait` is not answered. `/long` is more than a client that does not read takes. */
async function ofThree() {
  const counts = { asked: 0, closed: 0 }
  const server = createServer((request, reply) => {
    counts.asked += 1
    if (request.url === '/long') reply.end(Buffer.alloc(32 * 1_024 * 1_024))
    else if (request.url !== '/wait') reply.end('here')
  })
  limitConnections(server, 3, () => (counts.closed += 1))
  open.servers.push(server)
  const port = await listenHere(server)
  const count = () => new Promise<number>((resolve) => server.getConnections((_, number) => resolve(number)))
  return { port, counts, count }
}

interface Client {
  readonly socket: Socket
  readonly text: () => string
  readonly isOpen: () => boolean
}

function client(port: number, text: string): Client {
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(text))
  open.sockets.push(socket)
  let received = ''
  socket.on('data', (part) => {
    received += part.toString('latin1')
  })
  socket.on('error', () => socket.destroy())
  return { socket, text: () => received, isOpen: () => !socket.closed }
}

const requestOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const GET = requestOf('/')
const WAIT = requestOf('/wait')
const HALF = 'GET / HTTP/1.1\r\nHost: loc'

/** Opens one after another, each once the server has the one before. */
async function openAll(server: Awaited<ReturnType<typeof ofThree>>, texts: readonly string[]) {
  const clients: Client[] = []
  for (const text of texts) {
    const before = await server.count()
    const { asked } = server.counts
    const one = client(server.port, text)
    clients.push(one)
    await until('the connection', async () => (await server.count()) > before)
    if (text === WAIT) await until('its request', () => server.counts.asked > asked)
    if (text === GET) await until('its reply', () => one.text().includes('here'))
  }
  return clients
}

describe('a connection beyond the limit gets its reply', () => {
  it.each([
    ['the oldest of silent connections is closed', ['', '', ''], 0],
    ['the oldest of half-open requests is closed', [HALF, HALF, HALF], 0],
    ['an idle connection is closed before a busy one', [WAIT, WAIT, HALF], 2],
    ['a connection that had its reply is idle', [WAIT, GET, WAIT], 1],
    ['the oldest is closed if all are busy', [WAIT, WAIT, WAIT], 0],
  ])('%s', async (_, texts, closed) => {
    const server = await ofThree()
    const clients = await openAll(server, texts)
    const person = client(server.port, GET)
    await until('the reply', () => person.text().includes('here'))
    await until('one to be closed', () => clients.some((one) => !one.isOpen()))
    expect(clients.map((one) => one.isOpen())).toEqual([0, 1, 2].map((index) => index !== closed))
    expect(server.counts.closed).toBe(1)
  })

  it('a request makes a connection young again', async () => {
    const server = await ofThree()
    const [first, second] = await openAll(server, [GET, HALF, HALF])
    first?.socket.write(GET)
    await until('its second reply', () => first?.text().match(/here/g)?.length === 2)
    const person = client(server.port, GET)
    await until('the reply', () => person.text().includes('here'))
    await until('the second to be closed', () => second?.isOpen() === false)
    expect(first?.isOpen()).toBe(true)
  })

  it('a client that does not take its reply counts as idle', async () => {
    const server = await ofThree()
    const [, lazy] = await openAll(server, [WAIT, '', WAIT])
    lazy?.socket.write(requestOf('/long'))
    await until('its reply to begin', () => lazy?.text() !== '')
    lazy?.socket.pause()
    const person = client(server.port, GET)
    await until('the reply', () => person.text().includes('here'))
    expect(server.counts.closed).toBe(1)
    lazy?.socket.resume()
    await until('the lazy one to be closed', () => lazy?.isOpen() === false)
  })

  it('also after hundreds of connections', async () => {
    const server = await ofThree()
    const clients = Array.from({ length: 400 }, () => client(server.port, HALF))
    await until('most to be closed', () => clients.filter((one) => one.isOpen()).length <= 3)
    expect(await server.count()).toBeLessThanOrEqual(3)
    const person = client(server.port, GET)
    await until('the reply', () => person.text().includes('here'))
  })
})

it('a connection with a thousand requests in one packet is closed, and none but the first is answered', async () => {
  let overviews = 0
  const parts = fakeParts()
  const { port } = await running({
    ...parts,
    overview() {
      overviews += 1
      return parts.overview()
    },
  })
  const greedy = client(port, requestOf('/api/v1/overview').repeat(1_000))
  await until('its end', () => !greedy.isOpen())
  expect(overviews).toBeLessThanOrEqual(1)
})

it('a flood is one event a minute, with the number of closed connections', async () => {
  const clock = createFakeClock()
  const events: Event[] = []
  const app = fastify({ logger: false })
  const { port } = await openListener(app, {
    setting: 'metrics-listen',
    on: { host: '127.0.0.1', port: 0 },
    clock,
    emit: (event) => events.push(event),
  })
  open.servers.push(app.server)
  const clients = Array.from({ length: 100 }, () => client(port, HALF))
  await until('most to be closed', () => clients.filter((one) => one.isOpen()).length === 64)
  await clock.advance(60_000)
  expect(events).toEqual([{ type: 'ConnectionsLimited', listener: 'metrics-listen', closed: 36, limit: 64 }])
  await clock.advance(60_000)
  expect(events).toHaveLength(1)
})
