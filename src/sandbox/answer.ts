import type { FastifyReply } from 'fastify'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { Fault } from './fault-schema.ts'

/** Before any fault. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** Envelope around a resource (`spec/api.md` 1). */
export function envelope(requestId: string, result: JsonObject | readonly JsonObject[]): Answer {
  return { status: 200, headers: {}, body: { status: 200, requestId, result } }
}

/** The work is done or has started. */
export function emptyEnvelope(requestId: string): Answer {
  return { status: 200, headers: {}, body: { status: 200, requestId } }
}

/** `spec/api.md` 4.4: without envelope. */
export function bare(data: JsonObject): Answer {
  return { status: 200, headers: {}, body: { data } }
}

/** The interface leaves its shape open (`spec/api.md` 7). */
export function failure(
  requestId: string,
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const body: Record<string, Json> = { status, requestId, error }
  return { status, headers, body }
}

export type WireAnswer =
  | {
      readonly type: 'reply' | 'half'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly text: string
    }
  | { readonly type: 'close' | 'reset' | 'silence' }

export function isWorkDone(fault: Fault | undefined): boolean {
  switch (fault?.type) {
    case undefined:
    case 'latency':
    case 'cut-after':
    case 'half-body':
    case 'no-id':
    case 'error-after':
    case 'huge':
      return true
    case 'hang':
      return fault.done
    case 'rate-limit':
    case 'status':
    case 'not-applied':
    case 'reset':
    case 'cut-before':
    case 'html':
    case 'redirect':
      return false
  }
}

export function plain(answer: Answer): WireAnswer {
  return reply(answer.status, JSON.stringify(answer.body), answer.headers)
}

/** @param context `answer`: the platform's, if it did the work */
export function deform(
  fault: Fault,
  context: { readonly answer: Answer | undefined; readonly requestId: string; readonly now: number },
): WireAnswer {
  const { requestId, now } = context
  const answer = context.answer ?? failure(requestId, 500, 'the request had no effect')
  switch (fault.type) {
    case 'latency':
    case 'not-applied':
      return plain(answer)
    case 'rate-limit':
      return plain(failure(requestId, 429, 'too many requests', waitHeader(fault, now)))
    case 'status':
      return plain(failure(requestId, fault.status, fault.error ?? madeToFail(fault.status)))
    case 'error-after':
      return plain(failure(requestId, fault.status, madeToFail(fault.status)))
    case 'reset':
      return { type: 'reset' }
    case 'cut-before':
    case 'cut-after':
      return { type: 'close' }
    case 'half-body':
      return { type: 'half', status: answer.status, headers: {}, text: JSON.stringify(answer.body) }
    case 'no-id':
      return plain({ ...answer, body: withoutId(answer.body) })
    case 'html':
      return reply(fault.status, proxyPage(fault.status), { 'content-type': 'text/html; charset=utf-8' })
    case 'hang':
      return { type: 'silence' }
    case 'redirect':
      return reply(fault.status, '', { location: fault.location })
    case 'huge': {
      const body: JsonObject = { ...answer.body, padding: 'x'.repeat(fault.bytes) }
      return plain({ ...answer, body })
    }
  }
}

function madeToFail(status: number): string {
  return `made to fail with ${status}`
}

export function deliver(to: FastifyReply, answer: WireAnswer): void {
  to.hijack()
  const { raw } = to
  switch (answer.type) {
    case 'reply':
      raw.writeHead(answer.status, headersOf(answer))
      raw.end(answer.text)
      return
    case 'half':
      raw.writeHead(answer.status, headersOf(answer))
      // destroys the socket after the kernel has taken the first half
      raw.write(answer.text.slice(0, answer.text.length / 2), () => raw.socket?.destroy())
      return
    case 'close':
      raw.socket?.destroy()
      return
    case 'reset':
      raw.socket?.resetAndDestroy()
      return
    case 'silence':
      return
  }
}

function reply(status: number, text: string, headers: Readonly<Record<string, string>>): WireAnswer {
  return { type: 'reply', status, headers, text }
}

function headersOf(answer: {
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}): Record<string, string | number> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(answer.text),
    ...answer.headers,
  }
}

function waitHeader(fault: Extract<Fault, { type: 'rate-limit' }>, now: number): Record<string, string> {
  switch (fault.header) {
    case 'retry-after':
      return { 'retry-after': String(fault.seconds) }
    case 'retry-after-date':
      return { 'retry-after': new Date(now + fault.seconds * 1_000).toUTCString() }
    case 'x-ratelimit-reset':
      return { 'x-ratelimit-reset': String(Math.ceil(now / 1_000 + fault.seconds)) }
    case 'x-ratelimit-reset-in':
      return { 'x-ratelimit-reset': String(fault.seconds) }
    case 'none':
      return {}
  }
}

function withoutId(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, lostId(value)]))
}

function lostId(value: Json | undefined): Json | undefined {
  if (!isObject(value)) return value
  const { id: _lost, ...rest } = value
  return rest
}

function proxyPage(status: number): string {
  return (
    `<!DOCTYPE html>\n<html><head><title>${status}</title></head>\n` +
    `<body><center><h1>${status}</h1></center><hr><center>gateway</center></body></html>\n`
  )
}
