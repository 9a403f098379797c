const LIMIT_MS = 15_000

/** An answer that is no success. */
export class ReplyError extends Error {
  /** @param {number} status @param {{ error?: string, hint?: string }} body */
  constructor(status, body) {
    super(body.error ?? `the server answered ${status}`)
    this.status = status
    this.hint = body.hint ?? ''
  }
}

/**
 * @param {string} path @param {AbortSignal} [signal]
 * @throws {ReplyError} when the server says no; other errors when it does not answer
 */
export async function get(path, signal) {
  const limit = AbortSignal.timeout(LIMIT_MS)
  const reply = await fetch(path, { signal: signal === undefined ? limit : AbortSignal.any([signal, limit]) })
  if (reply.ok) return reply.json()
  throw new ReplyError(reply.status, await reply.json().catch(() => ({})))
}

/** Path of one resource in the API. */
export function resourcePath(key) {
  const slash = key.indexOf('/')
  return `api/v1/resources/${encodeURIComponent(key.slice(0, slash))}/${encodeURIComponent(key.slice(slash + 1))}`
}
