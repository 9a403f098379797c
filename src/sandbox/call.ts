import type { FastifyReply } from 'fastify'
import { z } from '../kinds/zod.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import type { ServiceIds } from './stored.ts'
import { type Shape, wordIssues } from './wire-schema.ts'

export interface Call {
  readonly service: ServiceIds
  readonly id: string
  readonly contentType: string | undefined
  readonly text: string
  /** ms since the epoch. */
  readonly now: number
}

export type OperationResult =
  { readonly ok: true; readonly result?: JsonObject | readonly JsonObject[] | undefined } | Refusal

export interface Refusal {
  readonly ok: false
  readonly status: number
  /** Contains no value of the request, because it might be secret. */
  readonly error: string
  readonly isUncoded?: boolean
}

export function refusal(status: number, error: string): Refusal {
  return { ok: false, status, error }
}

export function readObject(call: Call): { readonly ok: true; readonly json: JsonObject } | Refusal {
  if (!/^application\/json\s*(;|$)/i.test(call.contentType ?? ''))
    return refusal(400, 'Content-Type: must be application/json')
  const json = parseJson(call.text)
  return isObject(json) ? { ok: true, json } : refusal(400, 'body: must be a JSON object')
}

export function readCheckedBody(call: Call, shape: Shape): ReturnType<typeof readObject> {
  const body = readObject(call)
  if (!body.ok) return body
  const { error } = z.strictObject(shape).safeParse(body.json)
  return error === undefined ? body : refusal(400, wordIssues(error))
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** The body is an assumption, because the API description defines none for failures. */
export function failure(
  requestId: string,
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers, body: { status, requestId, error } }
}

export type WireAnswer = Reply | { readonly type: 'close' | 'reset' | 'silence' }

interface Reply {
  readonly type: 'reply' | 'half'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export function plain({ status, headers, body }: Answer): Reply {
  return { type: 'reply', status, headers, text: JSON.stringify(body) }
}

export function sendAnswer(to: FastifyReply, answer: WireAnswer): void {
  to.hijack()
  const { raw } = to
  switch (answer.type) {
    case 'reply':
    case 'half':
      raw.writeHead(answer.status, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(answer.text),
        ...answer.headers,
      })
      if (answer.type === 'reply') raw.end(answer.text)
      // destroys the socket after the kernel has taken the first half
      else raw.write(answer.text.slice(0, answer.text.length / 2), () => raw.socket?.destroy())
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
