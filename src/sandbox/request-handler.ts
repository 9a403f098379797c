import type { FastifyReply, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isObject, type Json, parseJson } from '../lib/json.ts'
import { type Answer, type Call, failure, type OperationResult, plain, sendAnswer } from './call.ts'
import { maskSecrets } from './control.ts'
import { distort, isWorkDone } from './fault-types.ts'
import type { Faults, FaultTarget } from './faults.ts'
import { type OperationId, perform } from './sandbox-platform.ts'
import { lowerCaseIds, type RecordedRequest } from './stored.ts'
import type { World } from './world.ts'

export interface Access {
  readonly credentials: readonly { readonly keyId: string; readonly keySecret: string }[]
  readonly alertTokens: readonly string[]
}

type Arrival = Omit<RecordedRequest, 'seq' | 'answer'>

export function createRequestHandler(parts: {
  readonly world: World
  readonly faults: Faults
  readonly access: () => Access
  readonly closing: AbortSignal
}) {
  const { world, faults, access, closing } = parts
  const { storage, now } = world
  return { handle, refuse }

  async function handle(operation: OperationId, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const call = callOf(request)
    const arrival = arrivalOf(operation, request, call)
    const { requestId } = arrival
    const fault = faults.pick(targetOf(operation, call))

    const late = fault?.type === 'latency'
    const seq = late ? storage.addRequest(arrival) : undefined
    const isClosed = late && (await setTimeout(fault.ms, false, { signal: closing }).catch(() => true))
    if (isClosed) return

    const answered = storage.transaction(() => {
      const at = seq ?? storage.addRequest(arrival)
      const work = () => answerTo(operation, { ...call, now: now() }, arrival)
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
    const arrival = arrivalOf(undefined, request, callOf(request))
    storage.transaction(() => {
      const seq = storage.addRequest(arrival)
      storage.answerRequest(seq, { status, fault: undefined, done: false })
    })
    sendAnswer(reply, plain(failure(arrival.requestId, status, error)))
  }

  function callOf(request: FastifyRequest): Call {
    const { organizationId = '', serviceId = '', id = '' } = request.params as Record<string, string> // fastify fills it from the path
    return {
      service: lowerCaseIds({ organizationId, serviceId }),
      id,
      contentType: request.headers['content-type'],
      text: typeof request.body === 'string' ? request.body : '',
      now: now(),
    }
  }

  function answerTo(operation: OperationId, call: Call, { authorization, requestId }: Arrival): Answer {
    if (authorization === 'right') return envelope(operation, requestId, perform(world, operation, call))
    const scheme = schemeOf(operation)
    const error = `${authorization} credentials: ${scheme} is expected`
    return failure(requestId, 401, error, { 'www-authenticate': scheme })
  }

  function envelope(operation: OperationId, requestId: string, done: OperationResult): Answer {
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

  function arrivalOf(operation: OperationId | undefined, request: FastifyRequest, call: Call): Arrival {
    const { authorization, ...headers } = request.headers
    return {
      at: call.now,
      operation,
      method: request.method,
      path: request.url,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      ...checkAuthorization(schemeOf(operation), authorization, access()),
      body: bodyToKeep(call.text),
      idempotencyKey: headers['idempotency-key']?.toString(),
      requestId: randomUUID(),
    }
  }

  /** Masks secrets in a file, because a user might have mounted real ones. */
  function bodyToKeep(text: string): Json | undefined {
    if (text === '') return undefined
    const json = parseJson(text) as Json | undefined // JSON.parse gives JSON
    if (!storage.isDurable) return json ?? text
    return json === undefined ? `not JSON, ${text.length} characters` : maskSecrets(json)
  }

  /** A create has no id yet, so its name comes from the body. */
  function targetOf(operation: OperationId, { service, id, text }: Call): FaultTarget {
    const body = id === '' ? parseJson(text) : storage.get('pipe', id)?.body
    const subjects = [id, isObject(body) ? body['name'] : undefined, service.serviceId]
    return { operation, subjects: subjects.filter((one) => typeof one === 'string').filter(Boolean) }
  }
}

type Scheme = 'Basic' | 'Bearer'

function schemeOf(operation: OperationId | undefined): Scheme {
  return operation === 'getAlert' ? 'Bearer' : 'Basic'
}

function checkAuthorization(
  scheme: Scheme,
  header: string | undefined,
  access: Access,
): Pick<RecordedRequest, 'authorization' | 'credential'> {
  if (header === undefined) return { authorization: 'absent', credential: undefined }
  const [given, sent = '', ...more] = header.split(' ')
  const isScheme = given?.toLowerCase() === scheme.toLowerCase() && more.length === 0
  const credential = isScheme ? ownerOf(scheme, sent, access) : undefined
  return { authorization: credential === undefined ? 'wrong' : 'right', credential }
}

function ownerOf(scheme: Scheme, sent: string, { credentials, alertTokens }: Access): string | undefined {
  if (scheme === 'Bearer') {
    const place = alertTokens.indexOf(sent)
    return place < 0 ? undefined : `alert token ${place + 1}`
  }
  const pair = Buffer.from(sent, 'base64').toString('utf8')
  return credentials.find(({ keyId, keySecret }) => `${keyId}:${keySecret}` === pair)?.keyId
}
