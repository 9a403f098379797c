import { afterEach, describe, expect, it, vi } from 'vitest'
import { startServer } from '../../src/server/server.ts'
import { fakeParts } from './fake-parts.ts'
import { ask, running } from './running.ts'

afterEach(() => {
  vi.doUnmock('../../src/server/app.ts')
  vi.resetModules()
})

describe('a server that just began to listen', () => {
  it('answers probes with the headers of every other reply, and without a body when it is asked for the head', async () => {
    const { url } = await running(fakeParts())
    const probe = await fetch(`${url}/readyz?verbose`, { method: 'HEAD' })
    expect([probe.status, await probe.text()]).toEqual([200, ''])
    const page = await fetch(`${url}/api/v1/overview`)
    for (const name of ['content-type', 'content-security-policy', 'x-frame-options', 'cache-control']) {
      expect([name, probe.headers.get(name)]).toEqual([name, page.headers.get(name)])
    }
  })

  it('takes a probe for one only when it is read', async () => {
    const { url } = await running(fakeParts())
    const { status, body } = await ask(`${url}/healthz`, { method: 'POST' })
    expect([status, body['error']]).toEqual([404, 'there is nothing at POST /healthz'])
  })

  it('loads the rest once for all who ask meanwhile', async () => {
    const parts = fakeParts()
    const { url } = await running(parts)
    const paths = ['/', '/api/v1/overview', '/api/v1/resources', '/metrics', '/page.css']
    const replies = await Promise.all(paths.map((path) => fetch(`${url}${path}`)))
    expect(replies.map((reply) => reply.status)).toEqual(paths.map(() => 200))
    expect(parts.subscribers()).toBe(1)
  })

  it('can be closed before anything else was loaded, and while it is', async () => {
    const early = await startServer(fakeParts())
    await early.close()
    await expect(fetch(early.url)).rejects.toThrow('fetch failed')
    const parts = fakeParts()
    const late = await startServer(parts)
    const prepared = late.prepare()
    await late.close()
    await prepared
    expect(parts.subscribers()).toBe(0)
  })

  it('says so when the rest cannot be loaded, and answers probes all the same', async () => {
    vi.resetModules()
    vi.doMock('../../src/server/app.ts', () => {
      throw new Error('the file is gone')
    })
    const { startServer: start } = await import('../../src/server/server.ts')
    const server = await start(fakeParts())
    try {
      await expect(server.prepare()).rejects.toThrow(/the file is gone|error when mocking/)
      const { status, body } = await ask(`${server.url}/api/v1/overview`)
      expect([status, body['error']]).toEqual([500, 'this could not be answered'])
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    } finally {
      await server.close()
    }
  })
})
