import { sleep, type Clock } from '../../src/lib/clock.ts'
import { httpServer } from '../platform/support/server.ts'

/** What is asked for, as far as it matters for how long it takes. */
export interface SlowRequest {
  readonly method: string
  readonly path: string
  readonly isList: boolean
}

const never = new AbortController().signal

/** The same API, on a way on which requests take longer. No watch goes through it. */
export function startSlowWay(
  url: string,
  clock: Clock,
  msOf: (request: SlowRequest) => number,
): Promise<AsyncDisposable & { readonly url: string }> {
  return httpServer((response, { method, url: path, headers, body: text }) => {
    const isList = method === 'GET' && path.includes('limit=')
    const pass = async () => {
      const body = method === 'GET' ? null : text
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
}
