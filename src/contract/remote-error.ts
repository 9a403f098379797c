import type { SecretMask } from '../lib/mask/secret-mask.ts'
import type { Secret } from '../lib/secret.ts'

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

export type Effect = 'none' | 'unknown'

export interface RemoteErrorFacts {
  /** Such as "the connection to … was cut before a reply came". */
  readonly what: string
  readonly class: ErrorClass
  readonly effect: Effect
  /** The unmasked reply. As a `Secret`, it cannot get into a log. */
  readonly reply?: Secret | undefined
  readonly httpStatus?: number | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs: number | undefined
  /** Whether a GET or an upsert can be repeated immediately. */
  readonly transient: boolean
  /** The id in the reply, as received. It might not be a valid id. */
  readonly repliedId?: string | undefined
  /** Origin of the proxy, which might deliver the request after our connection ended. */
  readonly proxy?: string | undefined
  /** A digest of the credentials that were sent. Undefined if none were. */
  readonly credential?: string | undefined
  /** The platform refused the credentials from `source`, or an operation with them. */
  readonly refused: { readonly source: string; readonly what: Refused } | undefined
  readonly setting?: string
}

type Refused = 'the credentials' | 'an operation'

export function whatIsRefused(status: number): Refused {
  return status === 401 ? 'the credentials' : 'an operation'
}

/** The message has at most a short, masked excerpt of the reply. */
export class RemoteError extends Error {
  readonly facts: RemoteErrorFacts

  constructor(message: string, facts: RemoteErrorFacts, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RemoteError'
    this.facts = facts
  }
}

export function maskFailure(failure: unknown, { mask }: Pick<SecretMask, 'mask'>): unknown {
  if (!(failure instanceof RemoteError)) return failure
  const message = mask(failure.message)
  if (message === failure.message) return failure
  return new RemoteError(message, { ...failure.facts, what: mask(failure.facts.what) })
}

export function notSent(
  kind: ErrorClass,
  why: string,
  more: Partial<Pick<RemoteErrorFacts, 'retryAfterMs' | 'refused' | 'setting'>> = {},
): RemoteError {
  const what = `not sent: ${why}`
  return new RemoteError(what, {
    what,
    class: kind,
    effect: 'none',
    retryAfterMs: undefined,
    transient: false,
    refused: undefined,
    ...more,
  })
}
