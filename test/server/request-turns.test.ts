import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { fakeParts } from './fake-parts.ts'
import { ask, running } from './running.ts'

const ends: (() => void)[] = []

afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Takes the time of the process. */
function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

/** A server whose overview takes 2 ms of work, and 200 connections. */
async function busy() {
  const parts = fakeParts()
  const counts = { overviews: 0 }
  const { port, url } = await running({
    ...parts,
    overview() {
      spin(2)
      counts.overviews += 1
      return parts.overview()
    },
  })
  const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => socket.destroy()).resume()
  ends.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  await until('the connections', () => sockets.every(({ connecting }) => !connecting))
  for (const socket of sockets) socket.write('GET /api/v1/overview HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await until('the first reply', () => counts.overviews > 0)
  return { url, sockets, counts }
}

it('half of the time is for other work, however many requests wait', async () => {
  const { counts } = await busy()
  for (let step = 0; step < 400; step += 1) await setImmediate()
  // If each step were behind a request, all of them would be answered by now.
  expect(counts.overviews).toBeLessThan(150)
  await until('all replies', () => counts.overviews === 200)
})

it.each(['healthz', 'metrics'])('/%s waits for no request of the API', async (path) => {
  const { url, counts } = await busy()
  expect((await fetch(`${url}/${path}`)).ok).toBe(true)
  expect(counts.overviews).toBeLessThan(150)
})

it('a request is not answered if its client is gone', async () => {
  const { url, sockets, counts } = await busy()
  for (const socket of sockets) socket.resetAndDestroy()
  expect((await ask(`${url}/api/v1/overview`)).status).toBe(200)
  expect(counts.overviews).toBeLessThan(100)
})
