import { buildConnector, Client } from 'undici'
import type { ObservedPipe } from '../kinds/observed.ts'
import type { Fail } from '../reconcile/failpoint.ts'
import type { CreatePermit, Reply } from '../reconcile/ports.ts'
import { RemoteError } from '../reconcile/remote-error.ts'
import type { Admission, Caller } from './admission.ts'
import { conclude, type ConclusionParts } from './conclusion.ts'
import { exchange, type ExchangeLimits, type Seen, type WireRequest } from './exchange.ts'
import { gatedConnect, gatedDispatcher } from './failpoint-gates.ts'
import { headersOf } from './headers.ts'
import { createdPipe } from './reply-body.ts'
import type { Base } from './wire.ts'

/** Longest wait for a connection; also ended by the deadline of the whole. */
const CONNECT_MS = 10_000

export interface CreateParts extends ConclusionParts {
  readonly userAgent: string
  /** From the first byte of DNS to the last of the reply; shorter than the shutdown grace. */
  readonly deadlineMs: number
  readonly maxReplyBytes: number
  /** For tests. */
  readonly fail?: Fail | undefined
}

/**
 * The right to send one `POST …/pipes` (`spec/api.md` 4.1). Sent at most once, whatever happens: no retrier, no
 * keep-alive socket that may be dead, no stop signal, no second connection.
 */
export function createPermit(
  call: {
    readonly caller: Caller
    readonly admission: Admission
    readonly base: Base
    readonly path: string
  },
  parts: CreateParts,
): CreatePermit {
  let used = false
  return {
    async send(body, intentId) {
      if (used) throw new Error('a permit to create was used twice')
      used = true
      return sendOnce({ ...call, body, intentId }, parts)
    },
  }
}

async function sendOnce(
  call: Parameters<typeof createPermit>[0] & { readonly body: string; readonly intentId: string },
  parts: CreateParts,
): Promise<Reply<ObservedPipe>> {
  const { caller, admission, base, path, body, intentId } = call
  const { clock, deadlineMs, maxReplyBytes, userAgent, wire } = parts
  const { login, place } = admission
  const request: WireRequest = {
    origin: base.origin,
    path: `${base.path}${path}`,
    method: 'POST',
    headers: { ...headersOf({ login, userAgent, body }), [wire.idempotencyHeader]: intentId },
    body,
  }
  const startedAt = clock.monotonic()
  const limits = {
    clock,
    timeoutMs: deadlineMs,
    maxReplyBytes,
    stop: undefined,
    onSent: () => place.sent(),
  }
  const seen = await exchangeOnce(request, limits, parts.fail)
  place.ended()
  const durationMs = clock.monotonic() - startedAt
  const timeoutMs = deadlineMs
  const attempt = { caller, admission, request, seen, readValue: createdPipe, timeoutMs, durationMs }
  const result = conclude(attempt, parts)
  if (result instanceof RemoteError) throw result
  return result
}

/**
 * An exchange on a connection of its own. Whether anything was sent is told by the connection: as long as it was
 * never ready, nothing was, whatever the error.
 */
async function exchangeOnce(
  request: WireRequest,
  limits: ExchangeLimits,
  fail: Fail | undefined,
): Promise<Exclude<Seen, { readonly type: 'stopped' }>> {
  const direct = buildConnector({ timeout: Math.min(CONNECT_MS, limits.timeoutMs), allowH2: false })
  const connect = fail === undefined ? direct : gatedConnect(direct, fail)
  let tries = 0
  let ready = false
  const client = new Client(request.origin, {
    allowH2: false,
    // The server may close when it has answered: nothing else comes.
    pipelining: 0,
    connect(options, callback) {
      tries += 1
      // A client connects again, and sends again, after some kinds of errors: not this one.
      if (tries > 1) {
        callback(new Error('one connection for one create'), null)
        return
      }
      connect(options, (...result) => {
        ready ||= result[0] === null
        callback(...result)
      })
    },
  })
  try {
    const dispatcher = fail === undefined ? client : gatedDispatcher(client, fail)
    const seen = await exchange(dispatcher, request, limits)
    if (seen.type === 'stopped') throw new Error('a create was stopped, though it takes no signal')
    return seen.type === 'silence' ? { ...seen, sent: seen.sent || ready } : seen
  } finally {
    // Not waited for: the id must be on disk before anything else, and a socket may take its time to close.
    client.destroy().catch(() => undefined)
  }
}
