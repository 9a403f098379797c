import type { FastifyReply, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isObject, type Json, parseJson } from '../lib/json.ts'
import { type Answer, deform, deliver, failure, isWorkDone, plain, type WireAnswer } from './answer.ts'
import { type Access, type Authorization, checkBasic, checkBearer, type RateLimit } from './credential.ts'
import type { Fault } from './fault-schema.ts'
import type { FaultPicker, Target } from './fault-script.ts'
import type { Platform } from './sandbox-platform.ts'
import type { Operation } from './request-schema.ts'
import type { Storage } from './storage.ts'
import { maskSecrets, type RecordedRequest } from './stored.ts'

export interface RequestHandlerParts {
  readonly storage: Storage
  readonly platform: Platform
  readonly faults: FaultPicker
  readonly limit: RateLimit
  readonly access: () => Access
  /** ms since the epoch. */
  readonly now: () => number
  readonly closing: AbortSignal
}

export interface RequestHandler {
  perform(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<void>
  refuse(request: FastifyRequest, reply: FastifyReply, status: number, error: string): void
}

export function createRequestHandler(parts: RequestHandlerParts): RequestHandler {
  const { storage, platform, faults, limit, now, closing } = parts
  return { perform, refuse }

  async function perform(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const requestId = randomUUID()
    const authorization = authorize(operation, request)
    const arrival = () => storage.addRequest(arrivalOf({ operation, request, requestId, authorization }))
    const fault = faults.pick(targetOf(operation, request))

    // Arrival, work and answer share a transaction. With latency, the arrival is visible immediately.
    const late = fault?.type === 'latency'
    const seq = late ? arrival() : undefined
    if (late && !(await pause(fault.ms, closing))) return

    const answered = storage.transaction(() => {
      const at = seq ?? arrival()
      const act = () => work(operation, request, { requestId, authorization })
      const isDone = isWorkDone(fault)
      const answer = isDone ? act() : fault?.type === 'not-applied' ? storage.undone(act) : undefined
      const planned = wireAnswerOf({ fault, answer, requestId })
      storage.answerRequest(at, {
        status: 'status' in planned ? planned.status : undefined,
        fault: fault?.type,
        done: isDone,
      })
      return planned
    })
    deliver(reply, answered)
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, status: number, error: string): void {
    const requestId = randomUUID()
    const authorization = authorize(undefined, request)
    storage.transaction(() => {
      const seq = storage.addRequest(arrivalOf({ operation: undefined, request, requestId, authorization }))
      storage.answerRequest(seq, { status, fault: undefined, done: false })
    })
    deliver(reply, plain(failure(requestId, status, error)))
  }

  function work(
    operation: Operation,
    request: FastifyRequest,
    about: { readonly requestId: string; readonly authorization: Authorization },
  ): Answer {
    const { requestId, authorization } = about
    if (authorization.verdict !== 'right') {
      const scheme = operation === 'getAlert' ? 'Bearer' : 'Basic'
      const error = `${authorization.verdict} credentials: ${scheme} is expected`
      return failure(requestId, 401, error, { 'www-authenticate': scheme })
    }
    const waitMs = limit.admit(authorization.who, now())
    if (waitMs !== undefined) {
      const seconds = String(Math.ceil(waitMs / 1_000))
      return failure(requestId, 429, 'too many requests', { 'retry-after': seconds })
    }
    return platform[operation]({
      params: paramsOf(request),
      contentType: request.headers['content-type'],
      text: textOf(request),
      requestId,
      now: now(),
    })
  }

  function wireAnswerOf(about: {
    readonly fault: Fault | undefined
    readonly answer: Answer | undefined
    readonly requestId: string
  }): WireAnswer {
    const { fault, answer, requestId } = about
    if (fault !== undefined) return deform(fault, { answer, requestId, now: now() })
    return plain(answer ?? failure(requestId, 500, 'the request had no effect'))
  }

  function authorize(operation: Operation | undefined, request: FastifyRequest): Authorization {
    const check = operation === 'getAlert' ? checkBearer : checkBasic
    return check(request.headers.authorization, parts.access())
  }

  function arrivalOf(about: {
    readonly operation: Operation | undefined
    readonly request: FastifyRequest
    readonly requestId: string
    readonly authorization: Authorization
  }): Omit<RecordedRequest, 'seq' | 'answer'> {
    const { operation, request, requestId, authorization } = about
    const { authorization: _secret, ...headers } = request.headers
    return {
      at: now(),
      operation,
      method: request.method,
      path: request.url,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      authorization: authorization.verdict,
      credential: authorization.verdict === 'right' ? authorization.who : undefined,
      body: bodyToKeep(textOf(request)),
      idempotencyKey: headers['idempotency-key']?.toString(),
      requestId,
    }
  }

  /** Masked in a file: a user might have mounted real secrets. */
  function bodyToKeep(text: string): Json | undefined {
    if (text === '') return undefined
    const json = parseJson(text) as Json | undefined // JSON.parse gives JSON
    if (!storage.durable) return json ?? text
    return json === undefined ? `not JSON, ${text.length} characters` : maskSecrets(json)
  }

  function targetOf(operation: Operation, request: FastifyRequest): Target {
    const { pipeId, serviceId, id } = paramsOf(request)
    const body = NAMED.has(operation) ? parseJson(textOf(request)) : undefined
    const name = pipeId === undefined ? isObject(body) && body['name'] : storage.pipe(pipeId)?.body['name']
    const subjects = [pipeId ?? name, pipeId && name, id, serviceId]
    return { operation, subjects: subjects.filter((subject) => typeof subject === 'string') }
  }
}

const NAMED: ReadonlySet<Operation> = new Set(['createPipe', 'createAlert'])

/** @returns false: the sandbox closed first */
async function pause(ms: number, closing: AbortSignal): Promise<boolean> {
  return setTimeout(ms, true, { signal: closing }).catch(() => false)
}

function paramsOf(request: FastifyRequest): Readonly<Record<string, string>> {
  return request.params as Record<string, string> // fastify fills it from the path
}

function textOf(request: FastifyRequest): string {
  return typeof request.body === 'string' ? request.body : ''
}
