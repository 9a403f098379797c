import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { addressOf } from '../../src/server/connections/client-address.ts'
import { keepConnections, UNREAD_MS } from '../../src/server/connections/kept-connections.ts'
import { watchDescriptors } from '../../src/server/connections/descriptor-watch.ts'
import { connectionLimits, parseLimit } from '../../src/server/connections/descriptors.ts'
import { openListener } from '../../src/server/connections/listener.ts'
import type { Event } from '../../src/contract/events.ts'
import { fastify } from 'fastify'
import { until } from '../support/until.ts'
import { fakeClock } from './fake-parts.ts'

const open: { servers: Server[]; sockets: Socket[] } = { servers: [], sockets: [] }

afterEach(() => {
  for (const socket of open.sockets.splice(0)) socket.destroy()
  for (const server of open.servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

/** A server of few connections; `/wait` is not answered, `/long` is more than a client that does not read takes. */
async function kept(all: number, eachAddress: number) {
  const clock = fakeClock()
  const news: string[] = []
  const server = createServer((request, reply) => {
    if (request.url === '/long') reply.end(Buffer.alloc(32 * 1_024 * 1_024))
    else if (request.url !== '/wait') reply.end('here')
  })
  const connections = keepConnections(server, {
    limits: { all, eachAddress },
    clock,
    note: (what) => news.push(what),
  })
  open.servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
  const count = () => new Promise<number>((resolve) => server.getConnections((_, number) => resolve(number)))
  return { clock, news, port, connections, count }
}

interface Client {
  readonly socket: Socket
  readonly said: () => string
  readonly isOpen: () => boolean
}

/** @param from one of the many addresses of this machine */
function client(port: number, text: string, from = '127.0.0.1'): Client {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from }, () => socket.write(text))
  open.sockets.push(socket)
  let said = ''
  socket.on('data', (part) => {
    said += part.toString('latin1')
  })
  socket.on('error', () => socket.destroy())
  return { socket, said: () => said, isOpen: () => !socket.closed }
}

function stillOpen(clients: readonly Client[]): number {
  return clients.filter(({ isOpen }) => isOpen()).length
}

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const WAIT = 'GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n'
const LONG = 'GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n'
const HALF = 'GET / HTTP/1.1\r\nHost: loc'
const HALF_BODY = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf'

/** Opens one after another, each once the server has the one before. */
async function held(server: Awaited<ReturnType<typeof kept>>, texts: readonly string[], from?: string) {
  const clients: Client[] = []
  for (const text of texts) {
    const before = await server.count()
    const one = client(server.port, text, from)
    clients.push(one)
    await until('the connection', async () => (await server.count()) > before || !one.isOpen())
    if (text === GET) await until('its reply', () => one.said().includes('here'))
  }
  return clients
}

describe('when there is no room', () => {
  it.each([
    ['half a request', HALF],
    ['half a body', HALF_BODY],
    ['nothing', ''],
  ])('%s makes room, the oldest first, and a person gets in', async (_, text) => {
    const server = await kept(6, 3)
    const [first, second, third] = await held(server, [text, text, text])
    const person = client(server.port, GET)
    await until('the reply', () => person.said().includes('here'))
    await until('the oldest to be closed', () => first?.isOpen() === false)
    expect([second?.isOpen(), third?.isOpen()]).toEqual([true, true])
    expect(server.news).toEqual(['closed'])
  })

  it('a connection that is kept for the next request makes room before an older one whose request is on its way', async () => {
    const server = await kept(6, 3)
    const [half, served] = await held(server, [HALF, GET, HALF])
    const person = client(server.port, GET)
    await until('the reply', () => person.said().includes('here'))
    await until('the kept one to be closed', () => served?.isOpen() === false)
    expect(half?.isOpen()).toBe(true)
  })

  it('what is being answered is never cut: the new one is refused', async () => {
    const server = await kept(6, 3)
    const busy = await held(server, [WAIT, WAIT, WAIT])
    const late = client(server.port, GET)
    await until('the late one to be closed', () => !late.isOpen())
    expect(late.said()).toBe('')
    expect(busy.map(({ isOpen }) => isOpen())).toEqual([true, true, true])
    expect(server.news).toEqual(['refused'])
  })

  it('one address cannot take the place of others', async () => {
    const server = await kept(6, 3)
    const others = await held(server, [HALF, HALF], '127.0.0.2')
    const many = Array.from({ length: 20 }, () => client(server.port, HALF, '127.0.0.3'))
    await until('most to be closed', () => stillOpen(many) === 3)
    expect(others.map(({ isOpen }) => isOpen())).toEqual([true, true])
    expect(await server.count()).toBe(5)
  })

  it('the address that holds most makes room, and not whoever was there first', async () => {
    const server = await kept(6, 3)
    const [first] = await held(server, [GET], '127.0.0.2')
    await held(server, [HALF, HALF, HALF], '127.0.0.3')
    await held(server, [HALF, HALF], '127.0.0.4')
    const person = client(server.port, GET, '127.0.0.5')
    await until('the reply', () => person.said().includes('here'))
    expect(first?.isOpen()).toBe(true)
    expect(server.news).toEqual(['closed'])
  })

  it('holds for thousands that come at once', async () => {
    const server = await kept(20, 10)
    const clients = Array.from({ length: 2_000 }, () => client(server.port, HALF))
    await until('most to be closed', () => stillOpen(clients) <= 20)
    expect(await server.count()).toBeLessThanOrEqual(10)
    const person = client(server.port, GET)
    await until('the reply', () => person.said().includes('here'))
  })
})

describe('a reply that is not taken', () => {
  it('is ended after its time, one that is taken is not', async () => {
    const server = await kept(6, 3)
    const [lazy, waiting] = await held(server, ['', WAIT])
    lazy?.socket.pause().write(LONG)
    // Only what the kernel does not hold for the client is still the server's.
    const looks = UNREAD_MS / 5_000 + 2
    await until('it to be ended', () => {
      for (let look = 0; look < looks; look += 1) server.clock.advance(5_000)
      return server.news.includes('unread')
    })
    await until('the server to forget it', async () => (await server.count()) === 1)
    expect(waiting?.isOpen()).toBe(true)
  })

  it('counts: with too many of them, some are ended, of the address that holds most, and others are answered', async () => {
    const server = await kept(20, 10)
    const [slow] = await held(server, [''], '127.0.0.2')
    slow?.socket.pause().write(LONG)
    const lazy = await held(server, ['', '', '', ''], '127.0.0.3')
    for (const { socket } of lazy) socket.pause().write(LONG)
    await until('some to be ended', async () => server.news.includes('unread') && (await server.count()) < 5)
    expect(slow?.isOpen()).toBe(true)
    const person = client(server.port, GET)
    await until('the reply', () => person.said().includes('here'))
    expect(new Set(server.news)).toEqual(new Set(['unread']))
  })

  it('makes room where everything else is being answered', async () => {
    const server = await kept(4, 2)
    const busy = await held(server, [WAIT, WAIT], '127.0.0.2')
    const [other, lazy] = await held(server, [WAIT, ''], '127.0.0.3')
    lazy?.socket.write(LONG)
    await until('its reply to begin', () => (lazy?.said().length ?? 0) > 0)
    lazy?.socket.pause()
    let looks = 0
    const person = await until('a person to get in', async () => {
      server.clock.advance(5_000) // only by looking is it known that a reply waits
      looks += 1
      const one = client(server.port, GET)
      await until('a reply, or the end', () => one.said().includes('here') || !one.isOpen())
      return one.said().includes('here') ? one : undefined
    })
    expect(person.isOpen()).toBe(true)
    expect(looks, 'before the time of the reply is over').toBeLessThan(UNREAD_MS / 5_000)
    expect(server.news.filter((what) => what !== 'refused')).toEqual(['unread'])
    expect([...busy, other].map((one) => one?.isOpen())).toEqual([true, true, true])
  })
})

/** A listener of four connections, two for each address, and what it says. */
async function listening() {
  const clock = fakeClock()
  const events: Event[] = []
  const app = fastify({ logger: false })
  const attempts = { fail: undefined as Error | undefined }
  const watch = watchDescriptors({
    clock,
    emit: (event) => events.push(event),
    limit: 1_024,
    tryOne() {
      if (attempts.fail !== undefined) throw attempts.fail
    },
  })
  const listener = await openListener(app, {
    setting: 'listen',
    on: { host: '127.0.0.1', port: 0 },
    limits: { all: 4, eachAddress: 2 },
    descriptors: watch,
    clock,
    emit: (event) => events.push(event),
  })
  open.servers.push(app.server)
  return { app, attempts, clock, events, listener }
}

describe('what is said of it', () => {
  it('a flood of connections is one event a minute, with numbers', async () => {
    const { clock, events, listener } = await listening()
    const clients = Array.from({ length: 50 }, () => client(listener.port, HALF))
    await until('most to be closed', () => stillOpen(clients) === 2)
    clock.advance(1_000)
    expect(events).toMatchObject([
      { type: 'ConnectionsLimited', listener: 'listen', limit: 4, limitOfAddress: 2 },
    ])
    const late = client(listener.port, HALF)
    await until('it to take the place of one', () => stillOpen(clients) === 1 && late.isOpen())
    clock.advance(58_000)
    expect(events.length).toBe(1)
    clock.advance(3_000)
    expect(events).toMatchObject([{}, { closed: 1, refused: 0 }])
  })

  it.each(['EMFILE', 'ENFILE'])(
    '%s when a connection comes is called by its name, and ends nothing',
    async (code) => {
      const { app, clock, events } = await listening()
      const failed = Object.assign(new Error(`accept ${code}`), { code })
      for (let n = 0; n < 100; n += 1) app.server.emit('error', failed)
      expect(events).toEqual([{ type: 'DescriptorsExhausted', code, limit: 1_024 }])
      clock.advance(60_000)
      app.server.emit('error', failed)
      expect(events.length).toBe(2)
    },
  )

  it('nobody is told of a connection for which there is no descriptor: one is tried now and then', async () => {
    const { attempts, clock, events } = await listening()
    clock.advance(60_000)
    expect(events).toEqual([])
    attempts.fail = Object.assign(new Error('open EMFILE'), { code: 'EMFILE' })
    clock.advance(20_000)
    expect(events).toEqual([{ type: 'DescriptorsExhausted', code: 'EMFILE', limit: 1_024 }])
  })
})

describe('limits', () => {
  it.each([
    [256, 128, 16],
    [1_024, 512, 64],
    [20_000, 512, 64],
    [Infinity, 512, 64],
    [0, 2, 2],
  ])('of %d descriptors, the page has %i and the metrics have %i', (descriptors, main, metrics) => {
    expect(connectionLimits(descriptors)).toMatchObject({
      main: { all: main, eachAddress: main / 2 },
      metrics: { all: metrics, eachAddress: metrics / 2 },
    })
  })

  it.each([
    ['Max open files            1024                 1048576              files     ', 1_024],
    ['Max open files            unlimited            unlimited            files     ', Infinity],
    ['Max cpu time              unlimited            unlimited            seconds   ', 1_024],
  ])('%s', (line, descriptors) => {
    expect(
      parseLimit(`Limit   Soft Limit   Hard Limit   Units\n${line}\nMax locked memory 1 1 bytes\n`),
    ).toBe(descriptors)
  })

  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, undefined],
  ])('%s is counted as %s', (remote, address) => {
    expect(addressOf(remote)).toBe(address)
  })
})
