import type { Failed, Stopped, Unknown } from '../../plan/outcome.ts'
import type { IdForm } from '../../kinds/id-form.ts'
import type { Because } from '../../plan/reason.ts'
import { LedgerError } from '../../contract/ledger.ts'
import { SecretUnavailableError } from '../../contract/secrets.ts'
import { type ErrorClass, RemoteError } from '../../contract/remote-error.ts'

export type RemoteFailure = Failed & Because<RemoteReason>

type RemoteReason = 'Rejected' | 'AuthFailed' | 'RateLimited' | 'ServiceIdle' | 'Unavailable' | 'NotLeading'

const REASON_OF_CLASS: Readonly<Record<ErrorClass, RemoteReason>> = {
  Rejected: 'Rejected',
  Missing: 'Rejected',
  AuthFailed: 'AuthFailed',
  Throttled: 'RateLimited',
  ServiceIdle: 'ServiceIdle',
  Unavailable: 'Unavailable',
  BadReply: 'Unavailable',
  Redirected: 'Unavailable',
  NotLeading: 'NotLeading',
}

export function outcomeOf(error: unknown, signal: AbortSignal): Failed | Stopped {
  if (signal.aborted && (error === signal.reason || isAbort(error))) return { result: 'stopped' }
  if (error instanceof RemoteError) return failureOf(error)
  if (error instanceof SecretUnavailableError) {
    return local({ reason: 'SecretUnavailable', facts: { missing: [error.missing] } })
  }
  if (error instanceof LedgerError) return local({ reason: 'LedgerFailed', facts: { said: error.message } })
  throw error
}

/** The outcome of a create: unknown, except if the request certainly had no effect. */
export function createOutcomeOf(
  error: unknown,
  { now, form }: { readonly now: number; readonly form: IdForm },
): RemoteFailure | Omit<Unknown, 'facts'> {
  if (!(error instanceof RemoteError)) throw error
  const { effect, requestId, httpStatus, what, repliedId, proxy } = error.facts
  if (effect === 'none') return failureOf(error)
  const pipeId = form.matches(repliedId) ? repliedId : undefined
  const seen = { at: now, httpStatus, requestId, what, pipeId, proxy }
  return { result: 'unknown', requestId, seen }
}

function failureOf(error: RemoteError): RemoteFailure {
  const { requestId, retryAfterMs, what } = error.facts
  const seen = error.message === what ? undefined : what
  return { result: 'failed', ...becauseOf(error), requestId, retryAfterMs, what: seen }
}

function becauseOf({
  message: said,
  facts: { class: kind, refused, setting },
}: RemoteError): Because<RemoteReason> {
  const reason = refused === undefined ? REASON_OF_CLASS[kind] : 'AuthFailed'
  if (reason === 'AuthFailed')
    return { reason, facts: { said, credentials: refused?.source, refuses: refused?.what } }
  return reason === 'Unavailable' ? { reason, facts: { said, setting } } : { reason, facts: { said } }
}

function local(because: Because): Failed {
  return { result: 'failed', ...because }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

export function isRequestError(error: unknown): error is RemoteError | SecretUnavailableError {
  return error instanceof RemoteError || error instanceof SecretUnavailableError
}
