import type { Failed, Outcome, Stopped, Unknown } from '../plan/outcome.ts'
import { isUuid } from '../lib/same-id.ts'
import type { Reason } from '../plan/reason.ts'
import { LedgerError, SecretUnavailableError } from './ports.ts'
import type { ErrorClass } from './remote-error.ts'
import { RemoteError } from './remote-error.ts'

const REASON_OF_CLASS: Readonly<Record<ErrorClass, Reason>> = {
  Rejected: 'Rejected',
  Missing: 'Rejected',
  AuthFailed: 'AuthFailed',
  Throttled: 'RateLimited',
  ServiceIdle: 'ServiceIdle',
  Unavailable: 'Unavailable',
  BadReply: 'Unavailable',
  Redirected: 'Unavailable',
}

/**
 * What a failure means for the action that met it: the one place where an error becomes a value.
 * @param now ms since the epoch
 * @throws whatever is not an expected failure: that is a bug
 */
export function outcomeOf(
  error: unknown,
  context: { readonly signal: AbortSignal; readonly now: number },
): Failed | Stopped {
  if (context.signal.aborted && (error === context.signal.reason || isAbort(error)))
    return { result: 'stopped' }
  if (error instanceof RemoteError) {
    const { class: errorClass, requestId, retryAfterMs } = error.facts
    return {
      result: 'failed',
      reason: REASON_OF_CLASS[errorClass],
      message: error.message,
      requestId,
      retryAfterMs,
    }
  }
  if (error instanceof SecretUnavailableError) return local('SecretUnavailable', error.message)
  if (error instanceof LedgerError) return local('LedgerFailed', error.message)
  throw error
}

/** The same for a create that was sent: its effect decides. */
export function createOutcomeOf(error: unknown, now: number): Failed | Unknown {
  if (!(error instanceof RemoteError)) throw error
  const { class: errorClass, effect, requestId, retryAfterMs, httpStatus, what, repliedId } = error.facts
  if (effect === 'none') {
    return {
      result: 'failed',
      reason: REASON_OF_CLASS[errorClass],
      message: error.message,
      requestId,
      retryAfterMs,
    }
  }
  const pipeId = isUuid(repliedId) ? repliedId : undefined
  const seen = { at: now, httpStatus, requestId, what, pipeId }
  return { result: 'unknown', message: error.message, requestId, seen }
}

function local(reason: Reason, message: string): Failed {
  return { result: 'failed', reason, message, requestId: undefined, retryAfterMs: undefined }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** The request that an outcome is about. */
export function requestIdOf(outcome: Outcome): string | undefined {
  return outcome.result === 'stopped' ? undefined : outcome.requestId
}
