import fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import type { Method } from '../kinds/definition.ts'
import { operationsOf, type Profile } from '../kinds/profile.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { addControl, createControl, isControl } from './control.ts'
import { dialectOf } from './dialect.ts'
import { createFaults, type FaultsInput } from './faults.ts'
import { applyFixture, fixtureSchema, type FixtureInput } from './fixture.ts'
import { type Access, createRequestHandler } from './request-handler.ts'
import { type OperationId, OPERATIONS } from './sandbox-platform.ts'
import { openStorage } from './storage.ts'

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
