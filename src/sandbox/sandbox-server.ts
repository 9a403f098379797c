import fastify from 'fastify'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Method } from '../kinds/definition.ts'
import { operationsOf, type Profile } from '../kinds/profile.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { addControl, createControl, isControl, maskSecrets } from './control.ts'
import { dialectOf } from './dialect.ts'
import { createFaults, type FaultTarget, type Faults, type FaultsInput } from './faults.ts'
import { applyFixture, fixtureSchema, type FixtureInput } from './fixture.ts'
import { OPERATIONS, perform, type OperationId } from './sandbox-platform.ts'
import { openStorage } from './storage.ts'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { isObject, parseJson, type Json } from '../lib/json.ts'
import { failure, plain, sendAnswer, type Answer, type Call, type OperationResult } from './call.ts'
import { distort, isWorkDone } from './fault-types.ts'
import { lowerCaseIds, type RecordedRequest } from './stored.ts'
import type { World } from './world.ts'

/** `credentials` and `alertTokens` are accepted in addition to the fixture's. */
export interface SandboxOptions extends Access {
  readonly profile?: Profile | undefined
  /** Default: `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default: 0, a free port. */
  readonly port?: number | undefined
  /** SQLite file, shared by processes and created if missing. Default: in memory. */
  readonly file?: string | undefined
  /** Default: `open`. */
  readonly fileUse?: Parameters<typeof openStorage>[1]
  readonly fixture?: FixtureInput | undefined
  readonly faults?: FaultsInput | undefined
  /** ms since the epoch. Default: the machine's time. */
  readonly now?: (() => number) | undefined
}

export type Sandbox = Awaited<ReturnType<typeof createSandbox>>

export async function createSandbox(options: SandboxOptions) {
  const { profile = DEFAULT, now = Date.now } = options
  const fixture = fixtureSchema(profile).parse(options.fixture ?? {})
  let access: Access = {
    credentials: [...fixture.credentials, ...options.credentials],
    alertTokens: [...fixture.alertTokens, ...options.alertTokens],
  }
  const faults = createFaults(options.faults)
  await using stack = new AsyncDisposableStack()
  const storage = stack.use(openStorage(options.file, options.fileUse))
  const { times, services, incidents } = fixture
  const world = { storage, dialect: dialectOf(profile), times, services, incidents, now }
  applyFixture(world, fixture)
  const control = createControl(world, faults)
  const closing = new AbortController()
  const handler = createRequestHandler({ world, faults, access: () => access, closing: closing.signal })
  const server = createServer(routesOf(profile), handler)
  addControl(server, control)
  const url = await listen(server, options.host ?? '127.0.0.1', options.port ?? 0)
  stack.defer(async () => {
    closing.abort()
    await server.close()
  })

  const open = stack.move()
  return {
    ...control,
    /** `http://HOST:PORT`, for `--base-url` and `--alerts-base-url`. */
    url,
    /** Replaces all accepted credentials, also the fixture's. */
    setAccess(next: Access) {
      access = next
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

const BODY_LIMIT = 4 * 2 ** 20

function createServer(
  routes: readonly Route[],
  handler: ReturnType<typeof createRequestHandler>,
): FastifyInstance {
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    routerOptions: { caseSensitive: true },
  })
  // Bodies stay texts, because the simulated platform checks the JSON.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))

  for (const { operation, ...route } of routes) {
    server.route({
      ...route,
      handler: (request, reply) => handler.handle(operation, request, reply),
    })
  }
  server.setNotFoundHandler(async (request, reply) => {
    if (isControl(request)) return reply.code(404).send({ error: 'no such path' })
    handler.refuse(request, reply, 404, 'no such path')
    return reply
  })
  server.setErrorHandler(async (error: FastifyError, request, reply) => {
    // fastify sends 415 for a malformed content type
    const status = error.statusCode === 415 ? 400 : (error.statusCode ?? 500)
    handler.refuse(request, reply, status, error.message)
    return reply
  })

  return server
}

async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    // Without a host, Node listens on IPv6 and IPv4, or only on IPv4 if the kernel has no IPv6.
    const url = await server.listen({ host: host === '::' ? '' : host, port })
    return url.replace('[::]', '127.0.0.1')
  } catch (error) {
    await server.close()
    throw error
  }
}

interface Route {
  readonly operation: OperationId
  readonly method: Method
  readonly url: string
}

function routesOf(profile: Profile): readonly Route[] {
  const routes = operationsOf(profile).map(({ api, name, method, path }): Route => {
    const known = (api === 'services' ? IN_SERVICE[name] : undefined) ?? name
    const operation = OPERATIONS.find((one) => one === known)
    if (operation === undefined) throw new Error(`the sandbox has no operation ${known}`)
    return { operation, method, url: path.replaceAll(/\{(\w+)\}/g, ':$1') }
  })
  return [...new Map(routes.map((route) => [route.operation, route])).values()]
}

/** The sandbox renames these operations, because the interface for alerts has operations with the same names. */
const IN_SERVICE: Readonly<Record<string, OperationId>> = {
  getAlert: 'getServiceAlert',
  listAlerts: 'listServiceAlerts',
}

interface Access {
  readonly credentials: readonly { readonly keyId: string; readonly keySecret: string }[]
  readonly alertTokens: readonly string[]
}

type Arrival = Omit<RecordedRequest, 'seq' | 'answer'>

function createRequestHandler(parts: {
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
