import { type Effect, type ErrorClass, type RemoteErrorFacts, RemoteError } from '../contract/remote-error.ts'
import { failureWords, seenWords } from './failure-words.ts'
import { excerptOf, mask } from '../lib/excerpt.ts'
import type { Failure } from './failure.ts'
import { retryAfterMs } from '../lib/retry-after.ts'

/*
 * The error classes of design §6, in one place. `none` is what provably did nothing; all else that a create may
 * have done is `unknown`. A read changes nothing, whatever becomes of it. "The platform's own" is a reply in its envelope:
 * the status of the reply, and a UUID as request id. Anything else may come from somebody between, after the work.
 *
 * | seen                                        | class       | transient | effect of a create or an upsert     |
 * |---------------------------------------------|-------------|-----------|-------------------------------------|
 * | no connection: refused, DNS, TLS, timeout   | Unavailable | yes       | none                                |
 * | reset, cut or timeout on a ready connection | Unavailable | yes       | unknown                             |
 * | 2xx without what the interface promises     | BadReply    | yes       | unknown                             |
 * | 3xx                                         | Redirected  | no        | unknown                             |
 * | 401, 403                                    | AuthFailed  | no        | none if the platform's own          |
 * | 404 of the platform's own, of a pipe        | Missing     | no        | –                                   |
 * | 404 of somebody between, of a pipe          | Unavailable | yes       | –                                   |
 * | 424, 425                                    | ServiceIdle | no        | none if the platform's own          |
 * | 429                                         | Throttled   | no        | none                                |
 * | 408, 444, 460, 463, 499, 5xx                | Unavailable | yes       | unknown                             |
 * | any other 4xx                               | Rejected    | no        | none if the platform's own          |
 */

/** The error of a request that did not end in the reply the interface promises. */
export function classify(failure: Failure): RemoteError {
  const { operation, seen, body, secrets, now } = failure
  const kind = kindOf(failure)
  const known = {
    class: kind,
    effect: operation.does === 'read' ? ('none' as const) : effectOf(kind, failure),
    httpStatus: seen.type === 'reply' ? seen.status : undefined,
    requestId: body.requestId === undefined ? undefined : mask(body.requestId, secrets),
    retryAfterMs: seen.type === 'reply' ? retryAfterMs(seen.headers, now) : undefined,
    transient: kind === 'Unavailable' || kind === 'BadReply',
    repliedId:
      operation.does === 'create' && body.repliedId !== undefined ? mask(body.repliedId, secrets) : undefined,
    credential: failure.credential,
  }
  const excerpt = seen.type === 'reply' ? excerptOf(seen.body, secrets) : ''
  const facts: RemoteErrorFacts = { ...known, what: seenWords(failure, known, excerpt) }
  return new RemoteError(failureWords(failure, facts), facts)
}

/** Statuses of proxies that lost their client or the platform in the middle: the request may have been carried out. */
const GIVEN_UP_BETWEEN: ReadonlySet<number> = new Set([408, 444, 460, 463, 499])

function kindOf({ operation, seen, body }: Failure): ErrorClass {
  if (seen.type === 'silence') return 'Unavailable'
  const { status } = seen
  if (status < 300) return 'BadReply'
  if (status < 400) return 'Redirected'
  if (status === 401 || status === 403) return 'AuthFailed'
  // An alert has no envelope to tell the platform's own 404 by, and nothing that is created.
  if (status === 404 && operation.does === 'read' && operation.api === 'services')
    return body.isPlatforms ? 'Missing' : 'Unavailable'
  if (status === 424 || status === 425) return 'ServiceIdle'
  if (status === 429) return 'Throttled'
  if (GIVEN_UP_BETWEEN.has(status) || status >= 500) return 'Unavailable'
  return 'Rejected'
}

/** Classes that say in clear words that nothing was done, when it is the platform that says so. */
const REFUSED: ReadonlySet<ErrorClass> = new Set(['AuthFailed', 'Rejected', 'Missing', 'ServiceIdle'])

function effectOf(kind: ErrorClass, { seen, body }: Failure): Effect {
  if (seen.type === 'silence') return seen.sent ? 'unknown' : 'none'
  if (kind === 'Throttled') return 'none'
  return REFUSED.has(kind) && body.isPlatforms ? 'none' : 'unknown'
}
