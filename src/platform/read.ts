import pRetry from 'p-retry'
import { sleep } from '../lib/clock.ts'
import type { ReadOptions, Reply } from '../contract/platform.ts'
import { RemoteError } from '../contract/remote-error.ts'
import { admit, authenticated, type Admission, type Caller } from './admission.ts'
import { handleReply, type HandleReplyParts } from './handle-reply.ts'
import { exchange } from './http-exchange.ts'
import { headersOf } from './login.ts'
import type { Fence } from './fence.ts'
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
  readonly fence: Fence
}

/** A request that may be repeated: a reading, or a setting that replaces the whole. */
export interface Read<T> {
  readonly caller: Caller
  readonly base: Base
  readonly way: Way
  /** Relative to the base. */
  readonly path: string
  /**
   * Makes the body, once the request may be sent and before each attempt; `undefined`: there is none, and nothing to be looked at
   * before. What it throws is thrown, and nothing is sent.
   */
  readonly body: ((places: TakenPlaces) => Promise<string | undefined>) | undefined
  /** How many places are taken at once: one more for each look before it. One unless set. */
  readonly places?: 1 | 2
  readonly readValue: ReadValue<T>
  /** Larger replies than others are taken, up to so many bytes. */
  readonly maxReplyBytes?: number
  /** Attempts after the first, where other than usual. */
  readonly retries?: number
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
    retries: read.retries ?? parts.retries,
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
  const admitted = admit(read.caller, parts.breaker, { ...options, places: read.places ?? 1 })
  const admission = admitted instanceof Promise ? await admitted : admitted
  const { signal } = options
  if (read.body === undefined)
    return perform(read, { admission, body: undefined, notAfter: Infinity, signal }, parts)
  const places = takenPlaces(admission, read.caller, parts)
  try {
    const body = await read.body(places)
    const freshUntil = parts.clock.monotonic() + FRESH_MS
    const notAfter = Math.min(freshUntil, await parts.fence())
    return await perform(read, { admission: places.admission(), body, notAfter, signal }, parts)
  } finally {
    places.release() // does nothing once they were sent
  }
}

/** Places that were taken together: for a request, and for looks at what it depends on. */
export interface TakenPlaces {
  /** What the request itself may be sent with. */
  admission(): Admission
  /** One reading, never retried. */
  look<T>(read: Read<T>, options: ReadOptions): Promise<Reply<T>>
  /** How long the request would have to wait for another place after the next look: ms; none where there is a place for both. */
  lookCostsMs(): number
  /** How long it has waited for another place after its looks, a window of the budget each at most: ms. */
  waitedMs(): number
  /** Gives back the places that were not used. */
  release(): void
}

export function takenPlaces(first: Admission, caller: Caller, parts: ReadParts): TakenPlaces {
  const { breaker, clock } = parts
  const { budget } = caller.account
  let admission = first
  let waitedMs = 0
  const spares = [...first.spares]

  /** The place is used up, and the request needs another: the next one that is free. */
  async function anotherPlace({ signal }: ReadOptions): Promise<void> {
    const since = clock.monotonic()
    admission = await admit(caller, breaker, { priority: 'next', signal, places: 1 })
    waitedMs += Math.min(clock.monotonic() - since, budget.turnMs)
  }

  return {
    admission: () => admission,
    lookCostsMs: () => (spares.length > 0 ? 0 : budget.turnMs),
    waitedMs: () => waitedMs,
    async look(read, options) {
      const login = await read.caller.login()
      const asking = authenticated(read.caller, login)
      breaker.enter(asking)
      const spare = spares.pop()
      const place = spare ?? admission.place
      const result = await perform(
        read,
        {
          admission: { login, caller: asking, place, spares: [] },
          body: undefined,
          notAfter: Infinity,
          signal: options.signal,
        },
        parts,
      )
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
  const over = {
    caller,
    admission,
    way,
    request,
    seen,
    readValue,
    timeoutMs,
    durationMs,
  }
  return handleReply(over, parts)
}
