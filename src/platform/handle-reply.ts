import { sensitiveTexts } from '../kinds/mask.ts'
import type { Clock } from '../lib/clock.ts'
import { type EchoMask, echoMask, NO_ECHOES } from '../lib/echo.ts'
import { isUuid } from '../lib/same-id.ts'
import type { Secret } from '../lib/secret.ts'
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
  readonly secrets: Pick<FreshSecrets, 'forget' | 'known'>
}

/** One attempt that is over. */
export interface Attempt<T> {
  readonly caller: Caller
  readonly admission: Admission
  readonly way: Way
  /** As it was meant, whatever is on the way. */
  readonly request: WireRequest
  /** What mounted secrets stand in its body. */
  readonly sent: readonly Secret[]
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
  const echoes = echoesOf(attempt, parts)
  const requestId = shownId(body.requestId, echoes, parts)
  const result =
    value === undefined
      ? failureOf(attempt, { ...body, requestId }, { parts, echoes })
      : { value, requestId, credential, echoes }
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
  { parts, echoes }: { readonly parts: HandleReplyParts; readonly echoes: EchoMask },
): RemoteError {
  const { request, way, admission, caller, seen, timeoutMs } = attempt
  return classify({
    operation: caller.operation,
    seen,
    body,
    credential: admission.login.digest,
    source: admission.login.source,
    echoes,
    origin: request.origin,
    proxy: way.proxy,
    timeoutMs,
    now: parts.clock.now(),
  })
}

/** Every secret that was sent, who asked and what the body held; and all others. Made ready for who asks first. */
function echoesOf(
  { admission, way, request, sent }: Attempt<unknown>,
  { secrets }: HandleReplyParts,
): EchoMask {
  let own: EchoMask | undefined
  return (text) => {
    own ??= ofBody()
    return way.echoes(secrets.known.echoes(admission.login.echoes(own(text))))
  }

  function ofBody(): EchoMask {
    if (request.body === undefined) return NO_ECHOES
    return echoMask(sensitiveTexts(request.body, new Set(sent.map((secret) => secret.reveal()))))
  }
}

/** Each reply has another one: only what looks like none, or is a key, is worth to be looked at. */
function shownId(
  id: string | undefined,
  echoes: EchoMask,
  { secrets }: HandleReplyParts,
): string | undefined {
  return id === undefined || (isUuid(id) && !secrets.known.isOne(id)) ? id : echoes(id)
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
