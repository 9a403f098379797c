import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from '../kinds/zod.ts'
import { isObject, mergePatch, parseJson, type Json, type JsonObject } from '../lib/json.ts'
import { SECRET_FIELDS } from '../lib/sensitive.ts'
import { type Faults, FaultsFile } from './faults.ts'
import {
  lowerCaseIds,
  type RecordedRequest,
  servicePath,
  type StoredEndpoint,
  type StoredService,
} from './stored.ts'
import { wordIssues } from './wire-schema.ts'
import { advanceAlert, advancePipe, type PipeView, type World, viewInSandbox } from './world.ts'

export function createControl(world: World, faults: Faults) {
  const { storage, dialect, now } = world
  return {
    faults,
    pipes: (): readonly PipeView[] =>
      storage.transaction(() =>
        storage
          .all('pipe')
          .flatMap((pipe) => advancePipe(world, pipe, now()) ?? [])
          .map((pipe) => viewInSandbox(world, pipe, now())),
      ),
    endpoints: (): readonly StoredEndpoint[] => storage.all('endpoint'),
    alerts: (): readonly JsonObject[] =>
      storage.transaction(() => storage.all('alert').map((alert) => advanceAlert(world, alert, now()).body)),
    /** The last 100,000, in order of arrival. */
    requests: (): readonly RecordedRequest[] => storage.requests(),
    services: (): readonly StoredService[] => storage.all('service'),
    vanish(pipeId: string): void {
      if (!storage.remove('pipe', pipeId)) throw new Error(`there is no pipe ${pipeId}`)
    },
    /** @param patch JSON merge patch. After a patch with `state`, the state no longer depends on the time */
    change(pipeId: string, patch: JsonObject): void {
      storage.transaction(() => {
        const pipe = storage.get('pipe', pipeId)
        if (pipe === undefined) throw new Error(`there is no pipe ${pipeId}`)
        storage.put('pipe', pipeId, { ...pipe, updatedAt: now(), body: mergePatch(pipe.body, patch) })
      })
    },
    setService({ state, ...service }: StoredService): void {
      if (!dialect.serviceStates.includes(state))
        throw new Error(`this profile has no service state ${state}`)
      const ids = lowerCaseIds(service)
      storage.put('service', servicePath(ids), { ...ids, state })
    },
    /** @param patch JSON merge patch of the alert, which is created if it is missing */
    setAlert(id: string, patch: JsonObject): void {
      storage.transaction(() => {
        const at = new Date(now()).toISOString()
        const made = { id, createdAt: now(), service: '', body: { id, createdAt: at }, incidents: [] }
        const before = storage.get('alert', id) ?? made
        storage.put('alert', id, { ...before, body: mergePatch(before.body, { updatedAt: at, ...patch }) })
      })
    },
    /** The accepted content of a credential file. Undefined: unknown. */
    rightSecret: (name: string): string | undefined => storage.get('secret', name),
    keepRightSecret(name: string, content: string): void {
      storage.putNew('secret', name, content)
    },
  }
}

const Patch = z.record(z.string(), z.json())

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/
/** Other values of `Host` are refused, because a page of another site could use DNS rebinding. */
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i

/** Serves `/-/sandbox/`, only for requests from this machine. */
export function addControl(server: FastifyInstance, sandbox: ReturnType<typeof createControl>): void {
  server.addHook('onRequest', async (request, reply) => {
    const isFromHere = LOOPBACK.test(request.ip) && LOOPBACK_HOST.test(request.headers.host ?? '')
    if (isControl(request) && !isFromHere)
      await reply.code(403).send({ error: 'only requests from this machine are allowed' })
  })

  server.get('/-/sandbox/state', () => ({
    pipes: sandbox.pipes(),
    ...(sandbox.services().length > 0 && { services: sandbox.services() }),
    endpoints: sandbox.endpoints(),
    alerts: sandbox.alerts(),
    requests: sandbox.requests().map((request) => ({
      ...request,
      body: maskSecrets((request.body ?? null) as Json), // recorded from JSON
    })),
  }))

  post('faults', FaultsFile.extend({ clear: z.boolean().default(false) }), ({ clear, rules, mix }) => {
    if (clear) sandbox.faults.clear()
    sandbox.faults.add(...rules)
    if (mix !== undefined) sandbox.faults.mix(mix)
  })
  post('vanish', z.strictObject({ pipeId: z.string() }), ({ pipeId }) => sandbox.vanish(pipeId))
  post('change', z.strictObject({ pipeId: z.string(), patch: Patch }), ({ pipeId, patch }) =>
    sandbox.change(pipeId, patch),
  )
  post(
    'service',
    z.strictObject({ organizationId: z.string(), serviceId: z.string(), state: z.string() }),
    (service) => sandbox.setService(service),
  )
  post('alert', z.strictObject({ id: z.string(), patch: Patch }), ({ id, patch }) =>
    sandbox.setAlert(id, patch),
  )

  /** Requires JSON, because a page of another site cannot send it. */
  function post<T>(what: string, schema: z.ZodType<T>, act: (body: T) => void): void {
    server.post(`/-/sandbox/${what}`, (request, reply) => {
      const isJson = request.headers['content-type']?.startsWith('application/json') ?? false
      const body = schema.safeParse(isJson ? parseJson(String(request.body)) : undefined)
      if (!body.success) return reply.code(400).send({ error: wordIssues(body.error) })
      try {
        act(body.data)
      } catch (error) {
        return reply.code(404).send({ error: error instanceof Error ? error.message : String(error) })
      }
      return reply.send({ ok: true })
    })
  }
}

export function isControl(request: FastifyRequest): boolean {
  return request.url.startsWith('/-/sandbox/')
}

export function maskSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(maskSecrets)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member = null]) => [
      name,
      SECRET_FIELDS.has(name) ? '[secret]' : maskSecrets(member),
    ]),
  )
}
