import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { sleep, type Clock } from '../../src/lib/clock.ts'
import { listenHere } from '../support/listen-here.ts'

/** What is asked for, as far as it matters for how long it takes. */
export interface SlowRequest {
  readonly method: string
  readonly path: string
  readonly isList: boolean
}

const never = new AbortController().signal

/** The same API, on a way on which requests take longer. No watch goes through it. */
export async function startSlowWay(
  url: string,
  clock: Clock,
  msOf: (request: SlowRequest) => number,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const { method = 'GET', url: path = '/', headers } = request
    const isList = method === 'GET' && path.includes('labelSelector')
    const pass = async () => {
      const body = method === 'GET' ? null : await text(request)
      await sleep(clock, msOf({ method, path, isList }), never)
      const { authorization = '' } = headers
      const sent = { method, body, headers: { authorization, 'content-type': 'application/json' } }
      const reply = await fetch(`${url}${path}`, sent)
      response.writeHead(reply.status, { 'content-type': 'application/json' })
      response.end(await reply.text())
    }
    if (path.includes('watch=1')) response.destroy()
    else pass().catch(() => response.destroy())
  })
  const port = await listenHere(server)
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
