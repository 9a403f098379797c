import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import {
  createStrictServer,
  type StrictOptions,
  type StrictReply,
  type StrictServer,
} from './strict-server.ts'

/* The strict server over HTTP. On the way, requests and replies can be lost, or somebody else can answer. */

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

export interface StrictHttp extends AsyncDisposable {
  readonly url: string
  interfere(how: Interfere | undefined): void
}

export async function startStrictServer(options: StrictOptions): Promise<StrictServer & StrictHttp> {
  const strict = createStrictServer(options)
  return { ...strict, ...(await serveStrict(strict)) }
}

/** @param onLate a reply never comes: called when its request has arrived */
export async function serveStrict(strict: StrictServer, onLate?: () => void): Promise<StrictHttp> {
  let how: Interfere | undefined
  const server = createServer((asked, response) => {
    const { method = '', url: path = '', headers } = asked
    const serve = async () => {
      const content = await buffer(asked)
      const mishap = how?.({
        method,
        below: /\/clickpipes\/[^/]+(\/?.*)$/.exec(path)?.[1] ?? '…',
        body: bodyOf(content),
      })
      if (mishap === 'cut before') return void response.destroy()
      if (typeof mishap === 'object' && 'status' in mishap) return send(inWordsOfOthers(mishap))
      if (typeof mishap === 'object' && 'answered' in mishap)
        return send(inWordsOfOthers({ status: 200, result: mishap.answered }))
      const reply = strict.answer({ method, path, headers, content })
      if (mishap === 'cut after') return void response.destroy()
      if (mishap === 'late') return onLate?.()
      if (mishap === 'half') {
        response.writeHead(reply.status, { 'content-type': reply.type })
        return void response.write(Buffer.from(reply.text).subarray(0, -1), () => response.destroy())
      }
      send(mishap === undefined ? reply : inWordsOfOthers(mishap.after))
    }
    function send({ status, type, text }: StrictReply): void {
      response.writeHead(status, { 'content-type': type }).end(text)
    }
    // one that goes away before its end is nobody's business here
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

function bodyOf(content: Buffer): JsonObject {
  const body: unknown = content.length === 0 ? {} : JSON.parse(content.toString())
  return isObject(body) ? body : {}
}

function inWordsOfOthers(said: { readonly status: number } & JsonObject): StrictReply {
  const text = JSON.stringify({ ...said, requestId: '00000000-0000-4000-8000-00000000fa17' })
  return { status: said.status, type: 'application/json', text }
}
