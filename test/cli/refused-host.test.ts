import { request } from 'node:http'
import { expect, test } from 'vitest'
import { httpServer } from '../platform/support/server.ts'
import { fakeParts } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { runHere } from '../support/command.ts'

test('a command that asks by a name that is refused says so, and what to do', async () => {
  const { port } = await running(fakeParts())
  await using proxy = await httpServer((reply, { url }) => {
    const headers = { host: 'pipes.example.com' }
    request({ port, host: '127.0.0.1', path: url, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(reply)
    }).end()
  })
  const { code, stderr } = await runHere(['status', '--server', proxy.url])
  expect(code).not.toBe(0)
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
    `status: ${proxy.url}: the host "pipes.example.com" is not known here. Use an IP address or localhost`,
  )
  expect(stderr).toContain('--allowed-hosts')
})
