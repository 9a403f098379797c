import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from '../kinds/zod.ts'
import type { Json, JsonObject } from '../lib/json.ts'
import { mergePatch } from '../lib/merge-patch.ts'
import { FaultsFile } from './fault-schema.ts'
import type { Faults } from './fault-script.ts'
import type { Incidents } from './incidents.ts'
import { viewInSandbox, type Views } from './pipe-view.ts'
import {
  maskSecrets,
  type PipeInSandbox,
  type RecordedRequest,
  type StoredEndpoint,
  type StoredService,
} from './stored.ts'
import { parseJson } from '../lib/json.ts'
import { wordIssues } from './request-schema.ts'
import type { Storage } from './storage.ts'

/** Access behind the interface. */
export interface SandboxControl {
  readonly faults: Faults
  /** In order of creation. */
  pipes(): readonly PipeInSandbox[]
  endpoints(): readonly StoredEndpoint[]
  /** `spec/api.md` 2.8. */
  alerts(): readonly JsonObject[]
  /** In order of arrival; the last 100,000. */
  requests(): readonly RecordedRequest[]
  /** @throws Error for an unknown pipe */
  vanish(pipeId: string): void
  /**
   * @param patch JSON merge patch; its `state` no longer depends on the time
   * @throws Error for an unknown pipe
   */
  change(pipeId: string, patch: JsonObject): void
  /** Services with a set state. */
  services(): readonly StoredService[]
  /** @throws Error for a state that the profile lacks */
  setService(service: StoredService): void
  /** @param patch JSON merge patch of the alert, or of a new one */
  setAlert(id: string, patch: JsonObject): void
}

export interface ControlParts {
  readonly storage: Storage
  readonly incidents: Incidents
  readonly faults: Faults
  readonly views: Views
  /** ms since the epoch. */
  readonly now: () => number
}

export function createControl({ storage, incidents, faults, views, now }: ControlParts): SandboxControl {
  return {
    faults,
    pipes: () =>
      storage.transaction(() =>
        storage
          .pipes()
          .flatMap((pipe) => incidents.advancePipe(pipe, now()) ?? [])
          .map((pipe) => viewInSandbox(pipe, { now: now(), ...views })),
      ),
    endpoints: () => storage.endpoints(),
    alerts: () =>
      storage.transaction(() => storage.alerts().map((alert) => incidents.advanceAlert(alert, now()).body)),
    requests: () => storage.requests(),
    vanish(pipeId) {
      if (!storage.removePipe(pipeId)) throw new Error(`there is no pipe ${pipeId}`)
    },
    change(pipeId, patch) {
      storage.transaction(() => {
        const pipe = storage.pipe(pipeId)
        if (pipe === undefined) throw new Error(`there is no pipe ${pipeId}`)
        storage.putPipe({ ...pipe, updatedAt: now(), body: mergePatch(pipe.body, patch) })
      })
    },
    services: () => storage.services(),
    setService({ organizationId, serviceId, state }) {
      if (!views.dialect.serviceStates.includes(state)) throw new Error(`a service is never ${state}`)
      const ids = { organizationId: organizationId.toLowerCase(), serviceId: serviceId.toLowerCase() }
      storage.transaction(() => storage.putService({ ...ids, state }))
    },
    setAlert(id, patch) {
      storage.transaction(() => {
        const at = new Date(now()).toISOString()
        const before = storage.alert(id) ?? { id, at: now(), body: { id, createdAt: at }, incidents: [] }
        storage.putAlert({ ...before, body: mergePatch(before.body, { updatedAt: at, ...patch }) })
      })
    },
  }
}

const Patch = z.record(z.string(), z.json())

const FaultsBody = FaultsFile.extend({
  clear: z.boolean().default(false).describe('Whether to forget all faults first.'),
})

const ServiceBody = z.strictObject({ organizationId: z.string(), serviceId: z.string(), state: z.string() })

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/
/** Rejects DNS rebinding by a foreign page. */
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i

/** Under `/-/sandbox/`; loopback only. */
export function addControl(server: FastifyInstance, sandbox: SandboxControl): void {
  server.addHook('onRequest', async (request, reply) => {
    if (!isControl(request) || isFromHere(request)) return
    await reply.code(403).send({ error: 'only for this machine' })
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

  server.post('/-/sandbox/faults', (request, reply) =>
    take(request, reply, FaultsBody, ({ clear, rules, mix }) => {
      if (clear) sandbox.faults.clear()
      sandbox.faults.add(...rules)
      if (mix !== undefined) sandbox.faults.mix(mix)
    }),
  )
  server.post('/-/sandbox/vanish', (request, reply) =>
    take(request, reply, z.strictObject({ pipeId: z.string() }), ({ pipeId }) => sandbox.vanish(pipeId)),
  )
  server.post('/-/sandbox/change', (request, reply) =>
    take(request, reply, z.strictObject({ pipeId: z.string(), patch: Patch }), ({ pipeId, patch }) =>
      sandbox.change(pipeId, patch),
    ),
  )
  server.post('/-/sandbox/service', (request, reply) =>
    take(request, reply, ServiceBody, (service) => sandbox.setService(service)),
  )
  server.post('/-/sandbox/alert', (request, reply) =>
    take(request, reply, z.strictObject({ id: z.string(), patch: Patch }), ({ id, patch }) =>
      sandbox.setAlert(id, patch),
    ),
  )
}

export function isControl(request: FastifyRequest): boolean {
  return request.url.startsWith('/-/sandbox/')
}

function isFromHere(request: FastifyRequest): boolean {
  return LOOPBACK.test(request.ip) && LOOPBACK_HOST.test(request.headers.host ?? '')
}

/** A foreign page cannot send a JSON content type. */
function take<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  schema: z.ZodType<T>,
  act: (body: T) => void,
): FastifyReply {
  const isJson = request.headers['content-type']?.startsWith('application/json') ?? false
  const body = schema.safeParse(isJson ? parseJson(String(request.body)) : undefined)
  if (!body.success) return reply.code(400).send({ error: wordIssues(body.error) })
  try {
    act(body.data)
  } catch (error) {
    return reply.code(404).send({ error: error instanceof Error ? error.message : String(error) })
  }
  return reply.send({ ok: true })
}
