import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createEventHub, GATHER_MS, HEARTBEAT_MS } from '../../src/server/api/event-stream.ts'
import { startServer } from '../../src/server/server.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { fakeParts } from './fake-parts.ts'
import { ask, running } from './running.ts'

/** At once, so that a page knows that the stream reaches it. */
const FIRST = /^retry: 2000\nid: \w+-\d+\nevent: alive\ndata: {"now":\d+}\n\n/

/** A listening client: what it has heard so far, and whether the stream is over. */
async function listen(url: string, headers: Record<string, string> = {}) {
  const stop = new AbortController()
  const reply = await fetch(`${url}/api/v1/events`, { headers, signal: stop.signal })
  const heard = { text: '', ended: false, headers: reply.headers, stop }
  void (async () => {
    try {
      for await (const chunk of reply.body ?? []) heard.text += Buffer.from(chunk).toString()
    } catch {
      // the test let go of it
    }
    heard.ended = true
  })()
  await expect.poll(() => heard.text).toMatch(FIRST)
  return heard
}

interface Stream {
  readonly status: number
  readonly text: string
  readonly end: () => void
}

async function streamOf(port: number): Promise<Stream> {
  const path = '/api/v1/events'
  const request = get({ host: '127.0.0.1', port, path, agent: false })
  const [reply] = (await once(request, 'response')) as [IncomingMessage] // of this event
  reply.on('error', () => {})
  const status = reply.statusCode ?? 0
  if (status !== 200) return { status, text: (await reply.toArray()).join(''), end: () => {} }
  reply.resume()
  return { status, text: '', end: () => request.destroy() }
}

describe('/api/v1/events', () => {
  it('begins with when to come back, with an id and a first event', async () => {
    const { url } = await running(fakeParts())
    const heard = await listen(url)
    expect(heard.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(heard.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(heard.text).toMatch(/^retry: 2000\nid: \w+-0\nevent: alive\n/)
  })

  it('gathers what changes within a moment into one event of each type', async () => {
    const parts = fakeParts()
    const heard = await listen((await running(parts)).url)
    parts.change({ type: 'resources', keys: ['Pipe/b'] })
    parts.change({ type: 'resources', keys: ['Pipe/a', 'Pipe/b'] })
    parts.change({ type: 'source', keys: [] })
    await parts.clock.advance(GATHER_MS)
    await expect.poll(() => heard.text).toContain('event: source')
    const data = [...heard.text.replace(FIRST, '').matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(
      ([, , json]) => JSON.parse(json ?? ''),
    )
    expect(data).toEqual([
      { type: 'resources', keys: ['Pipe/a', 'Pipe/b'], all: false },
      { type: 'source', keys: [], all: true },
    ])
  })

  it('names no keys when too many changed', async () => {
    const parts = fakeParts()
    const heard = await listen((await running(parts)).url)
    for (let index = 0; index < 5_000; index += 1)
      parts.change({ type: 'resources', keys: [`Pipe/p${index}`] })
    await parts.clock.advance(GATHER_MS)
    await expect.poll(() => heard.text).toContain('data: {"type":"resources","keys":[],"all":true}')
    expect(heard.text.length).toBeLessThan(1_000)
  })

  it('shows every fifteen seconds that it is alive', async () => {
    const parts = fakeParts()
    const heard = await listen((await running(parts)).url)
    await parts.clock.advance(HEARTBEAT_MS)
    await parts.clock.advance(HEARTBEAT_MS)
    await expect.poll(() => heard.text.match(/^event: alive\ndata: {"now":\d+}\n\n/gm)).toHaveLength(3)
  })

  it('tells who comes back late that everything may be new', async () => {
    const { url } = await running(fakeParts())
    const late = await listen(url, { 'last-event-id': 'another-process-7' })
    await expect.poll(() => late.text.replace(FIRST, '').match(/^event: /gm)).toHaveLength(3)
    const id = /^id: (.*)$/m.exec(late.text)?.[1] ?? ''
    const inTime = await listen(url, { 'last-event-id': id })
    expect(inTime.text.replace(FIRST, '')).not.toContain('event: ')
  })

  it('lets go of a client that does not read', async () => {
    const parts = fakeParts()
    const { port, url } = await running(parts)
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.write('GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    const other = await listen(url)
    const keys = Array.from({ length: 200 }, (_, index) => `Pipe/${'x'.repeat(240)}${index}` as const)
    for (let round = 0; round < 400; round += 1) {
      parts.change({ type: 'resources', keys })
      await parts.clock.advance(GATHER_MS)
      await new Promise((resolve) => setImmediate(resolve))
    }
    socket.resume()
    await closed
    expect(other.ended).toBe(false)
  })

  it('has room for a hundred clients', async () => {
    const { port } = await running(fakeParts())
    const first = await Promise.all(Array.from({ length: 101 }, () => streamOf(port)))
    expect(first.filter(({ status }) => status === 200)).toHaveLength(100)
    const refused = first.find(({ status }) => status !== 200)
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining('poll /api/v1/overview') })
    first.find(({ status }) => status === 200)?.end()
    await expect.poll(async () => (await streamOf(port)).status).toBe(200)
  })

  it('lets go of a client for which too much waits, long before the next heartbeat', async () => {
    const clock = createFakeClock()
    const hub = createEventHub(clock, 'x')
    const stuck = new Writable({ write: () => {} })
    hub.add(stuck, undefined)
    const keys = Array.from({ length: 200 }, (_, index) => `Pipe/${'x'.repeat(240)}${index}` as const)
    for (let round = 0; round < 10; round += 1) {
      hub.tell({ type: 'resources', keys })
      await clock.advance(GATHER_MS)
    }
    expect(stuck.destroyed).toBe(true)
    hub.close()
  })

  it('lets go of a client that has read nothing between two heartbeats, however little waits for it', async () => {
    const clock = createFakeClock()
    const hub = createEventHub(clock, 'x')
    let taken = 0
    const stuck = new Writable({ write: () => {} })
    const reading = new Writable({
      write(_chunk, _encoding, done) {
        taken += 1
        done()
      },
    })
    hub.add(stuck, undefined)
    hub.add(reading, undefined)
    await clock.advance(HEARTBEAT_MS)
    expect([stuck.destroyed, reading.destroyed]).toEqual([false, false])
    await clock.advance(HEARTBEAT_MS)
    await clock.advance(HEARTBEAT_MS)
    expect([stuck.destroyed, reading.destroyed, taken]).toEqual([true, false, 4])
    hub.close()
  })

  it('ends when the server closes, and lets go of its subscription', async () => {
    const parts = fakeParts()
    const server = await startServer(parts)
    const heard = await listen(server.url)
    expect(parts.subscribers()).toBe(1)
    await server.close()
    await expect.poll(() => heard.ended).toBe(true)
    expect(parts.subscribers()).toBe(0)
    await expect(fetch(server.url)).rejects.toThrow('fetch failed')
  })
})

describe('closing', () => {
  it('does not wait for a client that sends half a request', async () => {
    const parts = fakeParts()
    const server = await startServer(parts)
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write('POST /-/reconcile HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{')
    await ask(`${server.url}/healthz`)
    const closed = server.close()
    await parts.clock.advance(3_000)
    await closed
    await expect(fetch(server.url)).rejects.toThrow('fetch failed')
    socket.destroy()
  })
})
