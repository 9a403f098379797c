import type { FastifyReply } from 'fastify'
import type { JsonObject } from '../lib/json.ts'

/** PipeBefore any fault. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** The interface leaves its shape open (`spec/api.md` 7). */
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
