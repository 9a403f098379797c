import { RemoteError, type ErrorClass } from '../reconcile/remote-error.ts'

/** The error of a request that never left us. @param retryAfterMs when it may be tried again, if that is known */
export function notSent(kind: ErrorClass, why: string, retryAfterMs?: number): RemoteError {
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
    credential: undefined,
  })
}
