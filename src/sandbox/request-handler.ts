import type { FastifyReply, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isObject, type Json, parseJson } from '../lib/json.ts'
import { type Answer, failure, plain, sendAnswer, type OperationResult } from './call.ts'
import { maskSecrets } from './control.ts'
import { distort, isWorkDone } from './fault-types.ts'
import type { Faults, FaultTarget } from './faults.ts'
import type { Operation } from './operations.ts'
import { perform } from './sandbox-platform.ts'
import { lowerCaseIds, type RecordedRequest } from './stored.ts'
import type { World } from './world.ts'

/** `spec/api.md` 5. */
export interface Access {
  readonly credentials: readonly { readonly keyId: string; readonly keySecret: string }[]
  /** For the alert operation. */
  readonly alertTokens: readonly string[]
}

interface RequestHandlerParts {
  readonly world: World
  readonly faults: Faults
  readonly access: () => Access
  /** ms since the epoch. */
  readonly now: () => number
  readonly closing: AbortSignal
}

type Arrival = Omit<RecordedRequest, 'seq' | 'answer'>

export type RequestHandler = ReturnType<typeof createRequestHandler>

export function createRequestHandler({ world, faults, access, now, closing }: RequestHandlerParts) {
  const { storage } = world
  return { handle, refuse }

  async function handle(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const arrival = arrivalOf(operation, request)
    const { requestId } = arrival
    const fault = faults.pick(targetOf(operation, request))

    // Arrival, work and answer share a transaction. With latency, the arrival is visible immediately.
    const late = fault?.type === 'latency'
    const seq = late ? storage.addRequest(arrival) : undefined
    if (late && !(await pause(fault.ms, closing))) return

    const answered = storage.transaction(() => {
      const at = seq ?? storage.addRequest(arrival)
      const work = () => answerTo(operation, request, arrival)
      const done = fault === undefined || isWorkDone(fault)
      const answer = done
        ? work()
        : fault.type === 'not-applied'
          ? storage.undone(work)
          : failure(requestId, 500, 'the request had no effect')
      const wire = fault === undefined ? plain(answer) : distort(fault, { answer, requestId, now: now() })
      const status = 'status' in wire ? wire.status : undefined
      storage.answerRequest(at, { status, fault: fault?.type, done })
      return wire
    })
    sendAnswer(reply, answered)
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, status: number, error: string): void {
    const arrival = arrivalOf(undefined, request)
    storage.transaction(() => {
      const seq = storage.addRequest(arrival)
      storage.answerRequest(seq, { status, fault: undefined, done: false })
    })
    sendAnswer(reply, plain(failure(arrival.requestId, status, error)))
  }

  function answerTo(operation: Operation, request: FastifyRequest, arrival: Arrival): Answer {
    const { authorization, requestId } = arrival
    if (authorization !== 'right') {
      const scheme = schemeOf(operation)
      const error = `${authorization} credentials: ${scheme} is expected`
      return failure(requestId, 401, error, { 'www-authenticate': scheme })
    }
    const { organizationId = '', serviceId = '', id = '' } = paramsOf(request)
    const result = perform(world, operation, {
      service: lowerCaseIds({ organizationId, serviceId }),
      id,
      contentType: request.headers['content-type'],
      text: textOf(request),
      now: now(),
    })
    return envelope(operation, requestId, result)
  }

  /** `spec/api.md` 1; 4.4 has none. */
  function envelope(operation: Operation, requestId: string, done: OperationResult): Answer {
    const isBare = operation === 'getAlert'
    if (done.ok) {
      const { result } = done
      const body = isBare ? { data: result } : { status: 200, requestId, ...(result && { result }) }
      return { status: 200, headers: {}, body }
    }
    const { status, error, isUncoded = isBare } = done
    const code = isUncoded ? undefined : world.dialect.codes[status]
    return failure(requestId, status, code === undefined ? error : `${code}: ${error}`)
  }

  function arrivalOf(operation: Operation | undefined, request: FastifyRequest): Arrival {
    const { authorization, ...headers } = request.headers
    return {
      at: now(),
      operation,
      method: request.method,
      path: request.url,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      ...checkAuthorization(schemeOf(operation), authorization, access()),
      body: bodyToKeep(textOf(request)),
      idempotencyKey: headers['idempotency-key']?.toString(),
      requestId: randomUUID(),
    }
  }

  /** Masked in a file: a user might have mounted real secrets. */
  function bodyToKeep(text: string): Json | undefined {
    if (text === '') return undefined
    const json = parseJson(text) as Json | undefined // JSON.parse gives JSON
    if (!storage.isDurable) return json ?? text
    return json === undefined ? `not JSON, ${text.length} characters` : maskSecrets(json)
  }

  function targetOf(operation: Operation, request: FastifyRequest): FaultTarget {
    const { serviceId, id } = paramsOf(request)
    const body = id === undefined ? parseJson(textOf(request)) : storage.get('pipe', id)?.body
    const name = isObject(body) ? body['name'] : undefined
    return { operation, subjects: [id, name, serviceId].filter((subject) => typeof subject === 'string') }
  }
}

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

type Scheme = 'Basic' | 'Bearer'

function schemeOf(operation: Operation | undefined): Scheme {
  return operation === 'getAlert' ? 'Bearer' : 'Basic'
}

/** `Basic base64(keyId:keySecret)` or `Bearer <ACCESS_TOKEN>`. */
function checkAuthorization(
  scheme: Scheme,
  header: string | undefined,
  access: Access,
): Pick<RecordedRequest, 'authorization' | 'credential'> {
  if (header === undefined) return { authorization: 'absent', credential: undefined }
  const [given, sent = '', ...more] = header.split(' ')
  const isScheme = given?.toLowerCase() === scheme.toLowerCase() && more.length === 0
  const owner = scheme === 'Basic' ? ownerOfKey : ownerOfToken
  const credential = isScheme ? owner(sent, access) : undefined
  return { authorization: credential === undefined ? 'wrong' : 'right', credential }
}

function ownerOfKey(sent: string, { credentials }: Access): string | undefined {
  const pair = Buffer.from(sent, 'base64').toString('utf8')
  return credentials.find(({ keyId, keySecret }) => `${keyId}:${keySecret}` === pair)?.keyId
}

function ownerOfToken(sent: string, { alertTokens }: Access): string | undefined {
  const place = alertTokens.indexOf(sent)
  return place < 0 ? undefined : `alert token ${place + 1}`
}
