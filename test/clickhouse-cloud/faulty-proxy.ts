import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'

/* A way to a server on which requests and replies are lost, or answered by somebody else. */

/** What happens to one request. Nothing: it arrives, and is answered. */
export type Mishap =
  /** It does not arrive. */
  | { readonly status: number; readonly error: string }
  | 'cut before'
  /** It arrives, and nobody hears of it. */
  | 'cut after'
  | 'late'
  /** It arrives, and its reply is cut right before its end. */
  | 'half'
  /** It arrives, and is answered in the words of somebody else. */
  | { readonly after: { readonly status: number; readonly error: string } }
  /** It does not arrive, and somebody answers that it was done. */
  | { readonly answered: Json }
  | undefined

export interface OnItsWay {
  readonly method: string
  /** Below the pipe, as `/scaling`; of all pipes it is `…`. */
  readonly below: string
  readonly body: JsonObject
}

export type Interfere = (asked: OnItsWay) => Mishap

export interface FaultyProxy extends AsyncDisposable {
  readonly url: string
  interfere(how: Interfere | undefined): void
}

export async function startFaultyProxy(to: string): Promise<FaultyProxy> {
  let how: Interfere | undefined
  const server = createServer((asked, response) => {
    const { method = '', url = '', headers } = asked
    const serve = async () => {
      const content = await buffer(asked)
      const body: unknown = content.length === 0 ? {} : JSON.parse(content.toString())
      const below = /\/clickpipes\/[^/]+(\/?.*)$/.exec(url)?.[1] ?? '…'
      const mishap = how?.({ method, below, body: isObject(body) ? body : {} })
      if (mishap === 'cut before') return void response.destroy()
      if (typeof mishap === 'object' && 'status' in mishap) return answer(mishap)
      if (typeof mishap === 'object' && 'answered' in mishap) return done(mishap.answered)
      const reply = await passedOn(`${to}${url}`, { method, headers, content })
      if (mishap === 'cut after') return void response.destroy()
      if (mishap === 'late') return
      if (mishap === 'half') {
        response.writeHead(reply.status, { 'content-type': reply.type })
        return void response.write(reply.content.subarray(0, -1), () => response.destroy())
      }
      if (mishap !== undefined) return answer(mishap.after)
      response.writeHead(reply.status, { 'content-type': reply.type }).end(reply.content)
    }
    function done(result: Json): void {
      const requestId = '00000000-0000-4000-8000-00000000fa17'
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ status: 200, requestId, result }))
    }
    function answer({ status, error }: { readonly status: number; readonly error: string }): void {
      const requestId = '00000000-0000-4000-8000-00000000fa17'
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ status, error, requestId }))
    }
    serve().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    interfere: (next) => void (how = next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function passedOn(
  url: string,
  sent: {
    readonly method: string
    readonly headers: NodeJS.Dict<string | string[]>
    readonly content: Buffer
  },
): Promise<{ readonly status: number; readonly type: string; readonly content: Buffer }> {
  const { method, headers, content } = sent
  return new Promise((resolve, reject) => {
    const passing = request(url, { method, headers }, (reply) => {
      buffer(reply).then(
        (whole) =>
          resolve({
            status: reply.statusCode ?? 0,
            type: reply.headers['content-type'] ?? '',
            content: whole,
          }),
        reject,
      )
    })
    passing.on('error', reject)
    passing.end(content)
  })
}
