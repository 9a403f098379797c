import pRetry from 'p-retry'
import { sleep } from '../lib/clock.ts'
import type { ReadOptions, Reply } from '../contract/platform.ts'
import { RemoteError } from '../contract/remote-error.ts'
import { admit, type Admission, type Caller } from './admission.ts'
import { handleReply, type HandleReplyParts } from './handle-reply.ts'
import { exchange } from './http-exchange.ts'
import { headersOf } from './login.ts'
import type { Way } from './network.ts'
import type { ReadValue, Base } from './wire.ts'

/** Between two attempts of one call; a longer failure is the business of the next reconcile. */
const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 4_000

/** A body that was made longer ago is made anew: what it was made of may be no longer so. */
const FRESH_MS = 5_000

export interface ReadParts extends HandleReplyParts {
  readonly userAgent: string
  readonly timeoutMs: number
  readonly maxReplyBytes: number
  /** Attempts after the first. */
  readonly retries: number
  /** From 0 to below 1. */
  readonly random: () => number
}

/** A request that may be repeated: a reading, or a setting that replaces the whole. */
export interface Read<T> {
  readonly caller: Caller
  readonly base: Base
  readonly way: Way
  /** Relative to the base. */
  readonly path: string
  /**
   * Makes the body, once the request may be sent and before each attempt; `undefined`: there is none. What it throws is
   * thrown, and nothing is sent.
   */
  readonly body: (() => Promise<string>) | undefined
  readonly readValue: ReadValue<T>
  /** Larger replies than others are taken, up to so many bytes. */
  readonly maxReplyBytes?: number
}

/**
 * Sends it, and again after a transient failure; every attempt takes its place in the budget.
 * @param make what to send; what it throws is thrown
 * @throws {RemoteError}
 * @throws {SecretUnavailableError}
 * @throws the signal's reason once it is aborted
 */
export async function send<T>(
  make: () => Read<T>,
  parts: ReadParts,
  options: ReadOptions,
): Promise<Reply<T>> {
  const read = make()
  const first = await attempt(read, parts, options)
  return first instanceof RemoteError ? repeat(first, read, parts, options) : first
}

/** Goes on after a first attempt that failed; most never come here. */
function repeat<T>(
  first: RemoteError,
  read: Read<T>,
  parts: ReadParts,
  options: ReadOptions,
): Promise<Reply<T>> {
  async function next(attemptNumber: number): Promise<Reply<T>> {
    const result = attemptNumber === 1 ? first : await attempt(read, parts, options)
    if (result instanceof RemoteError) throw result
    return result
  }
  return pRetry(next, {
    retries: parts.retries,
    // It waits in `shouldRetry`, by our clock and with full jitter, which p-retry does not have.
    minTimeout: 0,
    shouldRetry: async ({ error, attemptNumber }) => {
      if (!(error instanceof RemoteError) || !error.facts.transient) return false
      // The platform said when to come again (a 503 may): that is for the next reconcile.
      if (error.facts.retryAfterMs !== undefined) return false
      const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attemptNumber - 1))
      await sleep(parts.clock, Math.round(parts.random() * longest), options.signal)
      return true
    },
  })
}

/** @returns the reply, or why there is none; what kept it from being sent is thrown */
async function attempt<T>(
  read: Read<T>,
  parts: ReadParts,
  options: ReadOptions,
): Promise<Reply<T> | RemoteError> {
  const admitted = admit(read.caller, parts.breaker, { ...options, places: 1 })
  const admission = admitted instanceof Promise ? await admitted : admitted
  const { signal } = options
  if (read.body === undefined)
    return perform(read, { admission, body: undefined, notAfter: Infinity, signal }, parts)
  try {
    const body = await read.body()
    const notAfter = parts.clock.monotonic() + FRESH_MS
    return await perform(read, { admission, body, notAfter, signal }, parts)
  } finally {
    admission.place.release() // does nothing once it was sent
  }
}

interface Performance {
  readonly admission: Admission
  readonly body: string | undefined
  /** On the monotonic clock, ms: later than this nothing is written. */
  readonly notAfter: number
  readonly signal: AbortSignal
}

/** One attempt that may be sent. @returns as {@link attempt} */
export async function perform<T>(
  read: Omit<Read<T>, 'body'>,
  { admission, body, notAfter, signal }: Performance,
  parts: ReadParts,
): Promise<Reply<T> | RemoteError> {
  const { caller, base, way, path, readValue } = read
  const { userAgent, timeoutMs, clock } = parts
  const maxReplyBytes = Math.max(read.maxReplyBytes ?? 0, parts.maxReplyBytes)
  const { login, place } = admission
  const request = {
    origin: base.origin,
    path: `${base.path}${path}`,
    method: caller.operation.method,
    headers: headersOf({ login, userAgent, body }),
    body,
  }
  const startedAt = clock.monotonic()
  const seen = await exchange(way.dispatcher, way.routed(request), {
    clock,
    timeoutMs,
    maxReplyBytes,
    signal,
    mayStart: () => clock.monotonic() <= notAfter,
    onSent: () => place.sent(),
    onWhole: () => undefined,
  })
  place.ended()
  if (seen.type === 'stopped') throw signal.reason
  const durationMs = clock.monotonic() - startedAt
  const over = { caller, admission, way, request, sent: [], seen, readValue, timeoutMs, durationMs }
  return handleReply(over, parts)
}
