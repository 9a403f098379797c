import type { Clock } from '../lib/clock.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import type { Emit } from '../contract/events.ts'
import type { Reply } from '../contract/platform.ts'
import { type ErrorClass, RemoteError } from '../contract/remote-error.ts'
import type { Admission, Caller } from './admission.ts'
import type { CredentialBreaker, Verdict } from './credential-breaker.ts'
import { classify, type Failure } from './failure.ts'
import type { FreshSecrets } from './secret-store.ts'
import type { Seen, WireRequest } from './http-exchange.ts'
import type { Way } from './network.ts'
import { NO_BODY, readBody, type ReadValue, type Wire } from './wire.ts'

export interface HandleReplyParts {
  readonly wire: Wire
  readonly clock: Clock
  readonly emit: Emit
  readonly breaker: CredentialBreaker
  /** Read again for the next request when the platform refused what they said. */
  readonly secrets: Pick<FreshSecrets, 'forget' | 'mask'>
}

/** One attempt that is over. */
export interface Attempt<T> {
  readonly caller: Caller
  readonly admission: Admission
  readonly way: Way
  /** As it was meant, whatever is on the way. */
  readonly request: WireRequest
  readonly seen: Failure['seen']
  readonly readValue: ReadValue<T>
  readonly timeoutMs: number
  readonly durationMs: number
}

/**
 * What an attempt came to, and all that follows from it for others: events, the pause of a budget or of a service.
 * @returns the reply, or the error to be thrown
 */
export function handleReply<T>(attempt: Attempt<T>, parts: HandleReplyParts): Reply<T> | RemoteError {
  const { seen, caller, durationMs } = attempt
  const body = seen.type === 'reply' ? readBody(seen.body, seen.status, parts.wire) : NO_BODY
  const value = isDone(seen) && body.json !== undefined ? attempt.readValue(body.json, parts.wire) : undefined
  const { digest: credential } = attempt.admission.login
  const mask = (text: string) => parts.secrets.mask.mask(attempt.way.mask.mask(text))
  const requestId = body.requestId === undefined ? undefined : mask(body.requestId)
  const result =
    value === undefined
      ? failureOf(attempt, { ...body, requestId }, { parts, mask })
      : { value, requestId, credential }
  const problem = result instanceof RemoteError ? result : undefined
  parts.emit({
    type: 'RequestFinished',
    operation: caller.operation.name,
    service: caller.service,
    code: seen.type === 'reply' ? String(seen.status) : (problem?.facts.class ?? 'Unavailable'),
    durationMs,
    requestId: problem === undefined ? requestId : problem.facts.requestId,
  })
  follow(attempt, problem, parts)
  return result
}

/** 200 is what the interface shows; another 2xx that brings what it promises is taken for the same. */
function isDone(seen: Seen): boolean {
  return seen.type === 'reply' && seen.status < 300 && seen.end === 'whole'
}

function failureOf(
  attempt: Attempt<unknown>,
  body: Failure['body'],
  { parts, mask }: { readonly parts: HandleReplyParts; readonly mask: SecretMask['mask'] },
): RemoteError {
  const { request, way, admission, caller, seen, timeoutMs } = attempt
  return classify({
    operation: caller.operation,
    seen,
    body,
    credential: admission.login.digest,
    source: admission.login.source,
    mask,
    origin: request.origin,
    proxy: way.proxy,
    timeoutMs,
    now: parts.clock.now(),
  })
}

function follow(attempt: Attempt<unknown>, problem: RemoteError | undefined, parts: HandleReplyParts): void {
  const { caller, admission } = attempt
  if (problem?.facts.class === 'Throttled') {
    const { pauseMs, isFirst } = caller.account.throttle.slowDown(problem.facts.retryAfterMs)
    parts.emit({ type: 'RateLimited', service: caller.service, retryAfterMs: pauseMs, isFirst })
    return
  }
  const verdict = verdictOf(problem)
  if (verdict === undefined) return
  const over = verdict === 'accepted' ? caller.account.throttle.speedUp() : undefined
  if (over !== undefined) parts.emit({ type: 'RateLimitOver', service: caller.service, ...over })
  if (problem?.facts.class === 'AuthFailed') parts.secrets.forget()
  parts.breaker.report(admission.caller, verdict)
}

/** Classes that say nothing about the credentials. */
const SILENT: ReadonlySet<ErrorClass> = new Set(['BadReply', 'Redirected', 'Throttled', 'Unavailable'])

/** What a reply says about whoever asked; a platform that judges a request has let it in. */
function verdictOf(problem: RemoteError | undefined): Verdict | undefined {
  if (problem === undefined) return 'accepted'
  const { class: kind, httpStatus, retryAfterMs } = problem.facts
  if (kind === 'AuthFailed') return { status: httpStatus === 403 ? 403 : 401 }
  if (kind === 'ServiceIdle') return { status: httpStatus === 425 ? 425 : 424, retryAfterMs }
  return SILENT.has(kind) ? undefined : 'accepted'
}
