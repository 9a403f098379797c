import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { fakeParts } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { runHere } from '../support/command.ts'

test('a command that asks by a name that is refused says so, and what to do', async () => {
  const { port } = await running(fakeParts())
  const proxy = createServer((asked, reply) => {
    const sent = request(
      { port, host: '127.0.0.1', path: asked.url, headers: { host: 'pipes.example.com' } },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(reply)
      },
    )
    sent.end()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    const { port: asked } = proxy.address() as AddressInfo // it listens on TCP
    const server = `http://127.0.0.1:${asked}`
    const { code, stderr } = await runHere(['status', '--server', server])
    expect(code).not.toBe(0)
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      `status: ${server}: the host "pipes.example.com" is not known here. Ask by IP address or as localhost`,
    )
    expect(stderr).toContain('--allowed-hosts')
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
})
