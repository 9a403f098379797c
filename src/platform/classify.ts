import type { Effect, ErrorClass, RemoteErrorFacts } from '../reconcile/remote-error.ts'
import { RemoteError } from '../reconcile/remote-error.ts'
import { failureWords } from './failure-words.ts'
import { excerptOf, mask } from './excerpt.ts'
import type { Failure } from './failure.ts'
import { retryAfterMs } from './retry-after.ts'

/*
 * The error classes of design §6, in one place. `none` is what provably did nothing; all else that a create may
 * have done is `unknown`. A read changes nothing, whatever becomes of it.
 *
 * | seen                                        | class       | transient | effect of a create or an upsert |
 * |---------------------------------------------|-------------|-----------|---------------------------------|
 * | no connection: refused, DNS, TLS, timeout   | Unavailable | yes       | none                            |
 * | reset, cut or timeout on a ready connection | Unavailable | yes       | unknown                         |
 * | 2xx without what the interface promises     | BadReply    | yes       | unknown                         |
 * | 3xx                                         | Redirected  | no        | unknown                         |
 * | 401, 403                                    | AuthFailed  | no        | none                            |
 * | 404 of the platform itself, of a pipe       | Missing     | no        | –                               |
 * | 404 of somebody between, of a pipe          | Unavailable | yes       | –                               |
 * | 424, 425, 429                               | Throttled   | no        | none                            |
 * | 408, 5xx                                    | Unavailable | yes       | unknown                         |
 * | any other 4xx                               | Rejected    | no        | none                            |
 */

/** The error of a request that did not end in the reply the interface promises. */
export function classify(failure: Failure): RemoteError {
  const { operation, seen, body, secrets, now } = failure
  const kind = kindOf(failure)
  const facts: RemoteErrorFacts = {
    class: kind,
    effect: operation === 'getPipe' || operation === 'getAlert' ? 'none' : effectOf(kind, seen),
    httpStatus: seen.type === 'reply' ? seen.status : undefined,
    requestId: body.requestId === undefined ? undefined : mask(body.requestId, secrets),
    retryAfterMs: seen.type === 'reply' ? retryAfterMs(seen.headers, now) : undefined,
    transient: kind === 'Unavailable' || kind === 'BadReply',
  }
  const excerpt = seen.type === 'reply' ? excerptOf(seen.body, secrets) : ''
  return new RemoteError(failureWords(failure, facts, excerpt), facts)
}

function kindOf({ operation, seen, body }: Failure): ErrorClass {
  if (seen.type === 'silence') return 'Unavailable'
  const { status } = seen
  if (status < 300) return 'BadReply'
  if (status < 400) return 'Redirected'
  if (status === 401 || status === 403) return 'AuthFailed'
  if (status === 404 && operation === 'getPipe') return body.isPlatforms ? 'Missing' : 'Unavailable'
  if (status === 424 || status === 425 || status === 429) return 'Throttled'
  if (status === 408 || status >= 500) return 'Unavailable'
  return 'Rejected'
}

/** Classes that say in clear words that nothing was done. */
const REFUSED: ReadonlySet<ErrorClass> = new Set(['AuthFailed', 'Rejected', 'Missing', 'Throttled'])

function effectOf(kind: ErrorClass, seen: Failure['seen']): Effect {
  const nothingSent = seen.type === 'silence' && !seen.sent
  return nothingSent || REFUSED.has(kind) ? 'none' : 'unknown'
}
