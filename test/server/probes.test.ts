import { expect, it } from 'vitest'
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
