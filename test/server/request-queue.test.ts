import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { queued } from '../../src/server/connections/request-queue.ts'
import { until } from '../support/until.ts'
import { fakeParts } from './fake-parts.ts'
import { running } from './running.ts'

const ends: (() => void)[] = []

afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Takes so much of the process's time. */
function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

/** A server whose replies take 2 ms of work each; `answered`: from which addresses they were asked for, in their order. */
async function busy() {
  const answered: string[] = []
  const server = createServer(
    queued((request, reply) => {
      spin(2)
      answered.push(request.socket.remoteAddress ?? '')
      reply.end('here')
    }),
  )
  const sockets: Socket[] = []
  ends.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP
  /** Connections on which nothing was asked yet, so that all can ask at once. */
  async function connected(count: number, from: string) {
    const opened = Array.from({ length: count }, () =>
      connect({ port, host: '127.0.0.1', localAddress: from }),
    )
    sockets.push(...opened)
    for (const socket of opened) socket.on('error', () => socket.destroy()).resume()
    await until('the connections', () => opened.every(({ connecting }) => !connecting))
    return opened
  }
  return { answered, connected }
}

function ask(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
}

it('an address that asks a hundred times keeps another waiting for no more than a few', async () => {
  const { answered, connected } = await busy()
  const many = await connected(100, '127.0.0.2')
  const one = await connected(1, '127.0.0.3')
  ask(many)
  await until('the first of many to be answered', () => answered.length > 0)
  const before = answered.length
  ask(one)
  await until('all to be answered', () => answered.length === 101)
  // What arrived before the request of the one was read is begun before it, one after the other.
  expect(answered.indexOf('127.0.0.3') - before).toBeLessThan(50)
})

it('half of the time is for everything else, however many ask', async () => {
  const { answered, connected } = await busy()
  ask(await connected(200, '127.0.0.2'))
  await until('the first to be answered', () => answered.length > 0)
  for (let step = 0; step < 400; step += 1) await setImmediate()
  // Were each step behind a request, all of them would be answered by now.
  expect(answered.length).toBeLessThan(150)
  await until('all to be answered', () => answered.length === 200)
})

it('what its client gave up is not worked on', async () => {
  const { answered, connected } = await busy()
  const gone = await connected(100, '127.0.0.2')
  const others = await connected(60, '127.0.0.3')
  ask(gone)
  await until('the first to be answered', () => answered.length > 0)
  for (const socket of gone) socket.resetAndDestroy()
  ask(others)
  const ofOthers = () => answered.filter((from) => from === '127.0.0.3').length
  await until('the others to be answered', () => ofOthers() === 60)
  expect(answered.length - ofOthers()).toBeLessThan(40)
})

it('is how the page and the API are served', async () => {
  const parts = fakeParts()
  let looks = 0
  const { port } = await running({
    ...parts,
    overview() {
      spin(2)
      looks += 1
      return parts.overview()
    },
  })
  const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'))
  ends.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const socket of sockets) socket.on('error', () => socket.destroy()).resume()
  await until('the connections', () => sockets.every(({ connecting }) => !connecting))
  for (const socket of sockets) socket.write('GET /api/v1/overview HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await until('the first to be answered', () => looks > 0)
  for (let step = 0; step < 400; step += 1) await setImmediate()
  expect(looks).toBeLessThan(150)
})
