import type { SecretMask } from '../lib/mask/secret-mask.ts'
import type { Secret } from '../lib/secret.ts'

/** How a failed request is to be taken (design §6); the label values of outcomes. */
export const ERROR_CLASSES = [
  'Rejected',
  'AuthFailed',
  'Missing',
  'Throttled',
  'ServiceIdle',
  'Unavailable',
  'BadReply',
  'Redirected',
  'NotLeading',
] as const

export type ErrorClass = (typeof ERROR_CLASSES)[number]

/** What a failed request may have done on the platform. */
export type Effect = 'none' | 'unknown'

export interface RemoteErrorFacts {
  /** What was seen, in words, such as "the connection to … was cut before a reply came". */
  readonly what: string
  readonly class: ErrorClass
  readonly effect: Effect
  /** The reply as it came, for a decision; it cannot print itself. Undefined: none came. */
  readonly reply?: Secret | undefined
  /** Undefined when no reply came. */
  readonly httpStatus: number | undefined
  readonly requestId: string | undefined
  /** How long the platform asks us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** Safe to repeat at once for a GET or an upsert; says nothing about a create. */
  readonly transient: boolean
  /** The id of a resource that the reply to a create held, as it came: it may be no id at all. Undefined: none was seen. */
  readonly repliedId: string | undefined
  /** Origin of a proxy on the way: what it was given it may pass on later, whatever becomes of our connection to it. */
  readonly proxy: string | undefined
  /** Equal for equal credentials; undefined when nothing was sent with any. */
  readonly credential: string | undefined
  /** What was refused of the credentials; undefined: nothing. */
  readonly refused: RefusedCredentials | undefined
}

export interface RefusedCredentials {
  /** Where a person finds them, in words. */
  readonly source: string
  /** They are not taken at all (401), or forbid an operation (403). */
  readonly what: 'the credentials' | 'an operation'
}

export function whatIsRefused(status: number): RefusedCredentials['what'] {
  return status === 403 ? 'an operation' : 'the credentials'
}

/**
 * A request that did not end in the reply the interface promises. The message says what was seen, in words,
 * with at most a short and masked excerpt of the reply. Turned into an outcome in one place: `outcome.ts`.
 */
export class RemoteError extends Error {
  readonly facts: RemoteErrorFacts

  constructor(message: string, facts: RemoteErrorFacts, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RemoteError'
    this.facts = facts
  }
}

/** The same failure without the secrets that its words repeat. */
export function maskFailure(failure: unknown, { mask }: Pick<SecretMask, 'mask'>): unknown {
  if (!(failure instanceof RemoteError)) return failure
  const message = mask(failure.message)
  if (message === failure.message) return failure
  return new RemoteError(message, { ...failure.facts, what: mask(failure.facts.what) })
}

/** The error of a request that never left us. @param known when it may be tried again, and which credentials are refused */
export function notSent(
  kind: ErrorClass,
  why: string,
  { retryAfterMs, refused }: Partial<Pick<RemoteErrorFacts, 'retryAfterMs' | 'refused'>> = {},
): RemoteError {
  const what = `not sent: ${why}`
  return new RemoteError(what, {
    what,
    class: kind,
    effect: 'none',
    httpStatus: undefined,
    requestId: undefined,
    retryAfterMs,
    transient: false,
    repliedId: undefined,
    proxy: undefined,
    credential: undefined,
    refused,
  })
}
