import type { Fail } from '../contract/failpoint.ts'
import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import type { Reply } from '../contract/platform.ts'
import { RemoteError, notSent, type ErrorClass } from '../contract/remote-error.ts'
import type { CredentialBreaker, LoginVerdict } from './credential-breaker.ts'
import { classify, serviceOfPath, type TriedCall } from './failure.ts'
import type { FreshSecrets } from './secret-store.ts'
import { NO_BODY, readBody, type ReplyBody } from './wire.ts'
import { NotLeading } from '../contract/leadership.ts'

export interface RequestParts {
  readonly clock: Clock
  readonly emit: Emit
  readonly breaker: CredentialBreaker
  readonly secrets: FreshSecrets
  readonly fence: Fence
  readonly userAgent: string
  readonly maxReplyBytes: number
  readonly requestTimeoutMs: number
  /** ms from DNS to the last byte. Shorter than the shutdown grace: a stop waits for the reply. */
  readonly createDeadlineMs: number
  readonly retries: number
  /** From 0 to below 1. */
  readonly random: () => number
  readonly fail?: Fail | undefined
}

/** Emits events, and pauses the budget or the service after a refusal. @returns the reply, or the error to throw */
export function handleReply<T>(attempt: TriedCall<T>, parts: RequestParts): Reply<T> | RemoteError {
  const { seen, caller, way, durationMs } = attempt
  const body = seen.type === 'reply' ? readBody(seen.body, seen.status) : NO_BODY
  const isDone = seen.type === 'reply' && seen.status < 300 && seen.end === 'whole'
  const value = isDone && body.json !== undefined ? attempt.readValue(body.json) : undefined
  const mask = (text: string) => parts.secrets.mask.mask(way.mask.mask(text))
  const requestId = body.requestId === undefined ? undefined : mask(body.requestId)
  const result =
    value === undefined
      ? classify({
          ...attempt,
          body: { ...body, requestId },
          mask,
          isRepeated: isRepeated(attempt, body),
          now: parts.clock.now(),
        })
      : { value, requestId, credential: attempt.admission.login.digest }
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

const MAX_NOT_FOUND_IDS = 10_000

function isRepeated({ seen, caller, admission }: TriedCall<unknown>, { requestId }: ReplyBody): boolean {
  if (seen.type !== 'reply' || seen.status !== 404 || requestId === undefined) return false
  const { notFoundIds } = admission.login.account
  if (caller.operation.does !== 'read' || notFoundIds.has(requestId)) return notFoundIds.has(requestId)
  notFoundIds.add(requestId)
  const [oldest] = notFoundIds
  if (oldest !== undefined && notFoundIds.size > MAX_NOT_FOUND_IDS) notFoundIds.delete(oldest)
  return false
}

function follow(
  { caller, admission, path }: TriedCall<unknown>,
  problem: RemoteError | undefined,
  parts: RequestParts,
): void {
  const { read, throttle } = admission.login.account
  if (problem === undefined && caller.operation.does === 'read') read.add(serviceOfPath(path))
  if (problem?.facts.class === 'Throttled') {
    const { pauseMs, isFirst } = throttle.slowDown(problem.facts.retryAfterMs)
    parts.emit({ type: 'RateLimited', service: caller.service, retryAfterMs: pauseMs, isFirst })
    return
  }
  const verdict = verdictOf(problem)
  if (verdict === undefined) return
  const over = verdict === 'accepted' ? throttle.speedUp() : undefined
  if (over !== undefined) parts.emit({ type: 'RateLimitOver', service: caller.service, ...over })
  if (problem?.facts.class === 'AuthFailed') parts.secrets.forget()
  parts.breaker.report(admission.caller, verdict)
}

const SILENT: ReadonlySet<ErrorClass> = new Set(['BadReply', 'Redirected', 'Throttled', 'Unavailable'])

/** Undefined: the reply does not show whether the credentials work. A refusal of the content shows that they work. */
function verdictOf(problem: RemoteError | undefined): LoginVerdict | undefined {
  if (problem === undefined) return 'accepted'
  const { class: kind, httpStatus, retryAfterMs } = problem.facts
  if (kind === 'AuthFailed') return { status: httpStatus === 403 ? 403 : 401 }
  if (kind === 'ServiceIdle') return { status: httpStatus === 425 ? 425 : 424, retryAfterMs }
  return SILENT.has(kind) ? undefined : 'accepted'
}

/**
 * Called right before each request that changes something.
 * @returns latest time for its first byte: monotonic ms
 * @throws {RemoteError} `NotLeading`: the request must not be sent
 */
export type Fence = () => Promise<number>

export function createFence(confirm: (() => Promise<number>) | undefined): Fence {
  return async () => {
    try {
      return (await confirm?.()) ?? Infinity
    } catch (error) {
      throw notLeading(error)
    }
  }
}

export function notLeading(error: unknown): RemoteError {
  const why = error instanceof Error ? error.message : String(error)
  return notSent('NotLeading', why, {
    retryAfterMs: error instanceof NotLeading ? error.retryAfterMs : undefined,
  })
}
