import { addControl, createControl, isControl, type SandboxControl } from './control.ts'
import { type Access, createRateLimit, type Credential, type Limit } from './credential.ts'
import type { FaultMixInput, FaultRuleInput } from './fault-schema.ts'
import { createFaults } from './fault-script.ts'
import { applyFixture, fixtureSchema, type FixtureInput } from './fixture.ts'
import { createIncidents } from './incidents.ts'
import { createPlatform } from './sandbox-platform.ts'
import type { Views } from './pipe-view.ts'
import { createRequestHandler, type RequestHandlerParts } from './request-handler.ts'
import type { Profile } from '../kinds/profile.ts'
import { DEFAULT } from '../kinds/profiles/default/profile.ts'
import { routesOf, type Route } from './dialect.ts'
import { dialectOf } from './dialects/dialects.ts'
import { openStorage, type Storage } from './storage.ts'
import type { FileUse } from './storage-database.ts'
import fastify, { type FastifyError, type FastifyInstance } from 'fastify'

export interface SandboxOptions {
  /** Default: the interface of `spec/api.md`. */
  readonly profile?: Profile | undefined
  /** Default: `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default: 0, a free port. */
  readonly port?: number | undefined
  /** SQLite file, shared by processes and created if missing. Default: in memory. */
  readonly file?: string | undefined
  /** Default: `open`. */
  readonly fileUse?: FileUse | undefined
  readonly fixture?: FixtureInput | undefined
  /** Besides the fixture's. */
  readonly credentials: readonly Credential[]
  /** Besides the fixture's. */
  readonly alertTokens: readonly string[]
  /** In state `Provisioning`. Default: 1500. */
  readonly provisioningMs?: number | undefined
  /** In each transitional state. Default: 1500. */
  readonly movingMs?: number | undefined
  /** Until replies show a new size. Default: 1000. */
  readonly scalingLagMs?: number | undefined
  /** Until a deleted pipe disappears. Default: 1500. */
  readonly deletingMs?: number | undefined
  /** Until the list shows a new pipe. Default: 0. */
  readonly listLagMs?: number | undefined
  /** Answers 429 beyond it. Default: no limit. */
  readonly limit?: Limit | undefined
  readonly faults?:
    { readonly rules?: readonly FaultRuleInput[]; readonly mix?: FaultMixInput | undefined } | undefined
  /** ms since the epoch. Default: the machine's time. */
  readonly now?: (() => number) | undefined
}

export interface Sandbox
  extends SandboxControl, Pick<Storage, 'rightSecret' | 'keepRightSecret'>, AsyncDisposable {
  /** `http://HOST:PORT`: both `{base_url}` and `{alerts_base_url}`. */
  readonly url: string
  /** Replaces the fixture's too. */
  setAccess(access: Access): void
  /** Ends even hanging connections. Idempotent. */
  close(): Promise<void>
}

/** Follows `spec/api.md`. @throws Error if the port or the file is unusable */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const now = options.now ?? Date.now
  const profile = options.profile ?? DEFAULT
  const fixture = fixtureSchema(profile).parse(options.fixture ?? {})
  let access: Access = {
    credentials: [...fixture.credentials, ...options.credentials],
    alertTokens: [...fixture.alertTokens, ...options.alertTokens],
  }
  const faults = createFaults()
  faults.add(...(options.faults?.rules ?? []))
  faults.mix(options.faults?.mix)

  await using stack = new AsyncDisposableStack()
  const storage = stack.use(openStorage(options.file, options.fileUse))
  const fields = profile.kinds.find((kind) => kind.lifecycle === 'create-once')?.fields ?? {}
  const { times } = fixture
  const dialect = dialectOf(profile)
  const views: Views = {
    provisioningMs: options.provisioningMs ?? times.provisioningMs ?? 1_500,
    movingMs: options.movingMs ?? times.movingMs ?? 1_500,
    scalingLagMs: options.scalingLagMs ?? times.scalingLagMs ?? 1_000,
    dialect,
  }
  applyFixture({ storage, fields, dialect }, fixture, now())
  const deletingMs = options.deletingMs ?? times.deletingMs ?? 1_500
  const incidents = createIncidents(storage, fixture.incidents, deletingMs)
  const platform = createPlatform({
    storage,
    incidents,
    services: fixture.services,
    views,
    fields,
    listLagMs: options.listLagMs ?? times.listLagMs ?? 0,
  })

  const control = createControl({ storage, incidents, faults, views, now })
  const server = stack.use(
    await serve({
      host: options.host ?? '127.0.0.1',
      port: options.port ?? 0,
      routes: routesOf(profile),
      control,
      parts: { storage, platform, faults, limit: createRateLimit(options.limit), access: () => access, now },
    }),
  )

  const open = stack.move()
  return {
    ...control,
    url: server.url,
    rightSecret: (name) => storage.rightSecret(name),
    keepRightSecret: (name, content) => storage.keepRightSecret(name, content),
    setAccess(next) {
      access = next
    },
    close: () => open.disposeAsync(),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

const BODY_LIMIT = 4 * 2 ** 20

async function serve(options: {
  readonly host: string
  readonly port: number
  readonly routes: readonly Route[]
  readonly control: SandboxControl
  readonly parts: Omit<RequestHandlerParts, 'closing'>
}): Promise<AsyncDisposable & { readonly url: string }> {
  const { host, port, routes, control, parts } = options
  const closing = new AbortController()
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    routerOptions: { caseSensitive: true },
  })
  // as texts: the platform judges the JSON
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))

  const handler = createRequestHandler({ ...parts, closing: closing.signal })
  for (const { operation, ...route } of routes) {
    server.route({
      ...route,
      handler: (request, reply) => handler.perform(operation, request, reply),
    })
  }
  addControl(server, control)
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

  const url = await listen(server, host, port)
  return {
    url,
    async [Symbol.asyncDispose]() {
      closing.abort()
      await server.close()
    },
  }
}

async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    // Without a host, Node listens on both families, or only on IPv4 if the kernel has no IPv6.
    const url = await server.listen({ host: host === '::' ? '' : host, port })
    return url.replace('[::]', '127.0.0.1')
  } catch (error) {
    await server.close()
    throw error
  }
}
