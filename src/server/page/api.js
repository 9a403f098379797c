/**
 * @import { Orders, Replies } from '../routes.ts'
 * @import { ErrorReply } from '../replies.ts'
 */

const LIMIT_MS = 15_000

export class ReplyError extends Error {
  /** @param {number} status @param {Partial<ErrorReply>} body */
  constructor(status, body) {
    super(body.error ?? `the server answered ${status}`)
    this.status = status
    this.hint = body.hint ?? ''
  }
}

/**
 * @template {keyof Replies} Path
 * @param {Path} path @param {URLSearchParams} [query] @param {AbortSignal} [signal]
 * @returns {Promise<Replies[Path]>}
 */
export async function get(path, query, signal) {
  const limit = AbortSignal.timeout(LIMIT_MS)
  return replyTo(query === undefined ? path : `${path}?${query}`, {
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  })
}

/**
 * @template {keyof Orders} Path
 * @param {Path} path @param {object | undefined} body @param {string} token
 * @returns {Promise<Orders[Path]>}
 */
export async function send(path, body, token) {
  return replyTo(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(LIMIT_MS),
  })
}

/** @param {string} address @param {RequestInit} request */
async function replyTo(address, request) {
  const reply = await fetch(address, request)
  if (reply.ok) return reply.json()
  throw new ReplyError(reply.status, await reply.json().catch(() => ({})))
}
