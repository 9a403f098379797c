import { backoffMs, retry } from '../lib/retry.ts'
import type { ReadOptions, Reply } from '../contract/platform.ts'
import { RemoteError } from '../contract/remote-error.ts'
import { admit, authenticated, type Admission, type Caller } from './admission.ts'
import { type ApiCall } from './failure.ts'
import { handleReply, type RequestParts } from './handle-reply.ts'
import { exchange } from './http-exchange.ts'
import { headersOf } from './login.ts'

/** Short waits, because the next reconcile handles longer failures. */
const RETRY = { firstMs: 500, maxMs: 4_000 }

const FRESH_MS = 5_000

export interface Repeatable<T> extends ApiCall<T> {
  /** Makes the body of each attempt. `send` throws the errors of this function. */
  readonly body?: (places: TakenPlaces) => Promise<string | undefined>
  /** Requests in the budget, with the reads before the change. Default: 1. */
  readonly places?: number
  readonly maxReplyBytes?: number
  readonly retries?: number
}

/** @throws {RemoteError} with the effect of all attempts @throws {SecretUnavailableError} */
export async function send<T>(
  read: Repeatable<T>,
  parts: RequestParts,
  options: ReadOptions,
): Promise<Reply<T>> {
  const { clock, random } = parts
  const retries = read.retries ?? parts.retries
  let isDoubtful = false
  try {
    const result = await retry(
      () => attempt(read, parts, options),
      (tried, number) => {
        if (!(tried instanceof RemoteError) || number > retries || !tried.facts.transient) return undefined
        isDoubtful ||= tried.facts.effect === 'unknown'
        // If the platform names a waiting time, the next reconcile retries.
        return tried.facts.retryAfterMs === undefined ? backoffMs(number, RETRY, random) : undefined
      },
      { clock, signal: options.signal },
    )
    if (result instanceof RemoteError) throw result
    return result
  } catch (error) {
    if (!isDoubtful || !(error instanceof RemoteError)) throw error
    throw new RemoteError(error.message, { ...error.facts, effect: 'unknown' })
  }
}

async function attempt<T>(
  read: Repeatable<T>,
  parts: RequestParts,
  options: ReadOptions,
): Promise<Reply<T> | RemoteError> {
  const admission = await admit(read.caller, parts.breaker, { ...options, places: read.places ?? 1 })
  const { signal } = options
  if (read.body === undefined) return perform(read, { admission, signal }, parts)
  const places = takenPlaces(admission, read.caller, parts)
  try {
    const body = await read.body(places)
    const freshUntil = parts.clock.monotonic() + FRESH_MS
    const notAfter = Math.min(freshUntil, await parts.fence())
    // No signal, because a stop must wait for the outcome of a change.
    return await perform(read, { admission: places.admission(), body, notAfter, signal: undefined }, parts)
  } finally {
    places.release() // no effect after sending
  }
}

export type TakenPlaces = ReturnType<typeof takenPlaces>

export function takenPlaces(first: Admission, caller: Caller, parts: RequestParts) {
  const { breaker, clock } = parts
  const { budget } = first.login.account
  let admission = first
  let waitedMs = 0
  const spares = [...first.spares]

  /** Waits until the budget allows one more request, because a read used the place of the change. */
  async function anotherPlace({ signal }: ReadOptions): Promise<void> {
    const since = clock.monotonic()
    admission = await admit(caller, breaker, { priority: 'next', signal, places: 1 })
    waitedMs += Math.min(clock.monotonic() - since, budget.turnMs)
  }

  return {
    admission: () => admission,
    lookCostsMs: () => (spares.length > 0 ? 0 : budget.turnMs),
    waitedMs: () => waitedMs,
    async look<T>(read: Repeatable<T>, options: ReadOptions) {
      const login = await read.caller.login()
      const asking = authenticated(read.caller, login)
      breaker.enter(asking)
      const spare = spares.pop()
      const place = spare ?? admission.place
      const admitted = { login, caller: asking, place, spares: [] }
      const result = await perform(read, { admission: admitted, signal: options.signal }, parts)
      if (result instanceof RemoteError && result.facts.class !== 'Missing') throw result
      if (spare === undefined) await anotherPlace(options)
      if (result instanceof RemoteError) throw result
      return result
    },
    release() {
      for (const spare of spares) spare.release()
      admission.place.release()
    },
  }
}

async function perform<T>(
  read: Repeatable<T>,
  sending: {
    readonly admission: Admission
    readonly signal: AbortSignal | undefined
    readonly body?: string | undefined
    readonly notAfter?: number
  },
  parts: RequestParts,
): Promise<Reply<T> | RemoteError> {
  const { caller, origin, path, way } = read
  const { admission, signal, body, notAfter = Infinity } = sending
  const { clock, requestTimeoutMs: timeoutMs } = parts
  const { login, place } = admission
  const headers = headersOf(login, parts.userAgent, body)
  const request = { origin, path, method: caller.operation.method, headers, body }
  const startedAt = clock.monotonic()
  const seen = await exchange(way.dispatcher, way.routed(request), {
    clock,
    timeoutMs,
    maxReplyBytes: Math.max(read.maxReplyBytes ?? 0, parts.maxReplyBytes),
    signal,
    notAfter,
    onSent: () => place.sent(),
  })
  place.ended()
  if (seen.type === 'stopped') throw signal?.reason
  const durationMs = clock.monotonic() - startedAt
  return handleReply({ ...read, admission, seen, timeoutMs, durationMs }, parts)
}
