import { sensitiveTexts } from '../kinds/mask.ts'
import type { Clock } from '../lib/clock.ts'
import { type EchoMask, echoMask } from '../lib/echo.ts'
import { isObject } from '../lib/json.ts'
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
import { NO_BODY, readBody, type ReadValue, type Wire } from './wire.ts'

export interface HandleReplyParts {
  readonly wire: Wire
  readonly clock: Clock
  readonly emit: Emit
  readonly breaker: CredentialBreaker
  /** Read again for the next request when the platform refused what they said. */
  readonly secrets: Pick<FreshSecrets, 'forget'>
}

/** One attempt that is over. */
export interface Attempt<T> {
  readonly caller: Caller
  readonly admission: Admission
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
  const { digest: credential, echoes } = attempt.admission.login
  const requestId =
    body.requestId === undefined || isUuid(body.requestId) ? body.requestId : echoes(body.requestId)
  const result =
    value === undefined
      ? failureOf(attempt, body, parts)
      : { value: shownOf(attempt, value), requestId, credential }
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

function failureOf(attempt: Attempt<unknown>, body: Failure['body'], parts: HandleReplyParts): RemoteError {
  const { request, admission, caller, seen, timeoutMs } = attempt
  return classify({
    operation: caller.operation,
    seen,
    body,
    credential: admission.login.digest,
    source: admission.login.source,
    echoes: echoesOf(attempt),
    origin: request.origin,
    timeoutMs,
    now: parts.clock.now(),
  })
}

/** Every secret that was sent: who asked, and what the body held. */
function echoesOf({ admission, request, sent }: Attempt<unknown>): EchoMask {
  const referenced = sent.map((secret) => secret.reveal())
  const named = request.body === undefined ? [] : sensitiveTexts(request.body, new Set(referenced))
  return echoMask([...admission.login.secrets.map((secret) => secret.reveal()), ...named])
}

/** Without the credentials of whoever asked in the state, which is shown; what is compared stays as it came. */
function shownOf<T>({ admission }: Attempt<T>, value: T): T {
  if (!isObject(value) || typeof value['state'] !== 'string') return value
  return { ...value, state: admission.login.echoes(value['state']) }
}

function follow(attempt: Attempt<unknown>, problem: RemoteError | undefined, parts: HandleReplyParts): void {
  const { caller, admission } = attempt
  if (problem?.facts.class === 'Throttled') {
    const pauseMs = caller.account.throttle.slowDown(problem.facts.retryAfterMs)
    parts.emit({ type: 'RateLimited', service: caller.service, retryAfterMs: pauseMs })
    return
  }
  const verdict = verdictOf(problem)
  if (verdict === undefined) return
  if (verdict === 'accepted') caller.account.throttle.speedUp()
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
