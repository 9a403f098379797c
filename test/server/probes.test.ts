import { describe, expect, it } from 'vitest'
import { startServer } from '../../src/server/server.ts'
import { fakeParts } from './fake-parts.ts'
import { ask, running } from './running.ts'

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

const PATHS = ['/healthz', '/readyz', '/metrics', '/', '/api/v1/overview', '/api/v1/events']

function statuses(base: string): Promise<readonly number[]> {
  return Promise.all(
    PATHS.map(async (path) => {
      const reply = await fetch(base + path)
      await reply.body?.cancel()
      return reply.status
    }),
  )
}

describe('with a listener of their own', () => {
  const metricsListen = { host: '127.0.0.1', port: 0 }

  it('probes and metrics are there, and nothing else; the other has the probes, and says where the metrics are', async () => {
    const { url, metricsUrl = '' } = await running(fakeParts({ metricsListen }))
    expect(await statuses(metricsUrl)).toEqual([200, 200, 200, 404, 404, 404])
    expect(await statuses(url)).toEqual([200, 200, 404, 200, 200, 200])
    const { body } = await ask(`${url}/metrics`)
    expect(body['error']).toBe('the metrics are not served here')
    expect(body['hint']).toContain('--metrics-listen')
  })

  it('has the metrics where the page is unless it is set', async () => {
    const { url, metricsUrl } = await running(fakeParts())
    expect([metricsUrl, (await fetch(`${url}/metrics`)).status]).toEqual([undefined, 200])
  })

  it('says which setting names a port that cannot be had, and holds the other no longer', async () => {
    const taken = await running(fakeParts())
    const port = { host: '127.0.0.1', port: taken.port }
    await expect(startServer(fakeParts({ metricsListen: port }))).rejects.toThrow(
      new RegExp(`cannot listen on 127.0.0.1:${taken.port}: .*EADDRINUSE.*--metrics-listen`),
    )
  })
})
