import { RemoteError, type ErrorClass } from '../reconcile/remote-error.ts'

/** The error of a request that never left us. */
export function notSent(kind: ErrorClass, why: string): RemoteError {
  return new RemoteError(`not sent: ${why}`, {
    class: kind,
    effect: 'none',
    httpStatus: undefined,
    requestId: undefined,
    retryAfterMs: undefined,
    transient: false,
  })
}
