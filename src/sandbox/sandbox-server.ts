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
  /** Which service it is; the interface of `spec/api.md` unless given. */
  readonly profile?: Profile | undefined
  /** Where to listen; `127.0.0.1` unless given. */
  readonly host?: string | undefined
  /** 0, or nothing: one that is free. */
  readonly port?: number | undefined
  /** A SQLite file, made when absent, that several processes may open; in memory when not given. */
  readonly file?: string | undefined
  /** `copy`: what changes is kept in memory, and the file stays as it is; `open` unless given. */
  readonly fileUse?: FileUse | undefined
  /** What is there before anybody asks. */
  readonly fixture?: FixtureInput | undefined
  /** API keys that are right, besides those of the fixture. */
  readonly credentials: readonly Credential[]
  /** Tokens for alerts that are right, besides those of the fixture. */
  readonly alertTokens: readonly string[]
  /** How long a new pipe is `Provisioning`; 1500 ms unless given. */
  readonly provisioningMs?: number | undefined
  /** How long a pipe is in each state that it only goes through after a command or an edit; 1500 ms unless given. */
  readonly movingMs?: number | undefined
  /** How long after a new size was set replies show none; 1000 ms unless given. */
  readonly scalingLagMs?: number | undefined
  /** How long a pipe is still there after somebody asked to delete it; 1500 ms unless given. */
  readonly deletingMs?: number | undefined
  /** How long after its creation a pipe is not in the list of all pipes yet; at once unless given. */
  readonly listLagMs?: number | undefined
  /** Answers 429 beyond it; no limit unless given. */
  readonly limit?: Limit | undefined
  /** How to misbehave from the start. */
  readonly faults?:
    { readonly rules?: readonly FaultRuleInput[]; readonly mix?: FaultMixInput | undefined } | undefined
  /** The time, in ms since the epoch; the machine's unless given. */
  readonly now?: (() => number) | undefined
}

/** The platform of `spec/api.md`, embedded. */
export interface Sandbox
  extends SandboxControl, Pick<Storage, 'rightSecret' | 'keepRightSecret'>, AsyncDisposable {
  /** `http://HOST:PORT`: both `{base_url}` and `{alerts_base_url}`. */
  readonly url: string
  /** Replaces the API keys and tokens that are right, those of the fixture too. */
  setAccess(access: Access): void
  /** Ends every connection at once, hanging ones too, and closes the file. May be called twice. */
  close(): Promise<void>
}

/**
 * Starts a platform that behaves as `spec/api.md` says, and misbehaves as it is asked to.
 * @throws Error when it cannot listen or cannot use the file
 */
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

/** Largest body taken, in bytes. */
const BODY_LIMIT = 4 * 2 ** 20

/** Listens, and hands each request to its handler. @throws Error when it cannot listen */
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
  // bodies are taken as texts: whether they are JSON is for the platform to say
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
    // 415 is how fastify says that a content type is none
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
    return await server.listen({ host, port })
  } catch (error) {
    await server.close()
    throw error
  }
}
