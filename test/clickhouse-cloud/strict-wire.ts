import { randomUUID } from 'node:crypto'
import { Agent, type Dispatcher } from 'undici'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import type { StrictReply, StrictServer } from './strict-server.ts'

/*
 * The strict server behind the HTTP client of this process, without sockets: they were a quarter of the CPU time. On the way, requests
 * and replies can be lost, or somebody else can answer. `strict-http.ts` serves other processes.
 */

/** What happens to one request. Nothing: it arrives, and is answered. */
export type Mishap =
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

type Request = Dispatcher.DispatchOptions

/** What comes back: with `end`, nothing more comes. */
interface Answered {
  readonly reply?: StrictReply
  readonly end: 'whole' | 'cut' | 'never'
}

const wires = new Map<unknown, (request: Request) => Answered>()
let count = 0

/** @param onLate a reply never comes: called when its request has arrived */
export function wireStrict(strict: StrictServer, onLate: () => void) {
  let how: Interfere | undefined
  const url = `http://strict-${(count += 1)}.invalid`

  function answer({ method, path, headers, body }: Request): Answered {
    const content = Buffer.from(typeof body === 'string' ? body : '')
    const below = /\/clickpipes\/[^/]+(\/?.*)$/.exec(path)?.[1] ?? '…'
    const mishap = how?.({ method, below, body: bodyOf(content) })
    if (mishap === 'cut before') return { end: 'cut' }
    if (typeof mishap === 'object' && 'status' in mishap) return inWordsOfOthers(mishap)
    if (typeof mishap === 'object' && 'answered' in mishap)
      return inWordsOfOthers({ status: 200, result: mishap.answered })
    const reply = strict.answer({ method, path, headers: inLowerCase(headers), content })
    if (mishap === 'cut after') return { end: 'cut' }
    if (mishap === 'late') onLate()
    if (mishap === 'late') return { end: 'never' }
    if (mishap === 'half') return { reply: { ...reply, text: reply.text.slice(0, -1) }, end: 'cut' }
    return mishap === undefined ? { reply, end: 'whole' } : inWordsOfOthers(mishap.after)
  }

  wires.set(url, answer)
  return {
    url,
    interfere: (next: Interfere | undefined) => void (how = next),
    [Symbol.asyncDispose]: async () => void wires.delete(url),
  }
}

/** What agents and clients of undici have in common. */
const base = Object.getPrototypeOf(Agent.prototype) as Dispatcher
// oxlint-disable-next-line typescript/unbound-method -- called with its `this`
const dispatch = base.dispatch

base.dispatch = function (this: Dispatcher, request, handler) {
  const answer = wires.get(request.origin)
  if (answer === undefined) return dispatch.call(this, request, handler)
  let aborted = false
  const controller: Dispatcher.DispatchController = {
    get aborted() {
      return aborted
    },
    paused: false,
    reason: null,
    abort: () => void (aborted = true),
    pause: () => undefined,
    resume: () => undefined,
  }
  setImmediate(() => {
    handler.onRequestStart?.(controller, {})
    if (aborted) return
    const { reply, end } = answer(request)
    if (reply !== undefined) {
      handler.onResponseStart?.(controller, reply.status, { 'content-type': reply.type })
      handler.onResponseData?.(controller, Buffer.from(reply.text))
    }
    if (end === 'whole') handler.onResponseEnd?.(controller, {})
    if (end === 'cut')
      handler.onResponseError?.(controller, Object.assign(new Error('cut'), { code: 'UND_ERR_SOCKET' }))
  })
  return true
}

function inLowerCase(headers: Request['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
}

function bodyOf(content: Buffer): JsonObject {
  const body: unknown = content.length === 0 ? {} : JSON.parse(content.toString())
  return isObject(body) ? body : {}
}

function inWordsOfOthers(said: { readonly status: number } & JsonObject): Answered {
  const text = JSON.stringify({ ...said, requestId: randomUUID() })
  return { reply: { status: said.status, type: 'application/json', text }, end: 'whole' }
}
