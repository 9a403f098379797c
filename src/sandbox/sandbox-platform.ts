import { randomUUID } from 'node:crypto'
import { z } from '../kinds/zod.ts'
import type { Fields } from '../kinds/field-table.ts'
import type { JsonObject } from '../lib/json.ts'
import { createAlerts } from './alerts.ts'
import { type Answer, emptyEnvelope, envelope, failure } from './answer.ts'
import { type Call, readBody, readObject, serviceOf } from './call.ts'
import type { Change, PipeChanges } from './changes/change.ts'
import type { Fixture } from './fixture.ts'
import type { Incidents } from './incidents.ts'
import { createRefusals, type Refusals } from './refusals.ts'
import { stateOf, viewPipe, type Views } from './pipe-view.ts'
import { type StoredPipe, withoutRequestOnly } from './stored.ts'
import type { Operation } from './request-schema.ts'
import type { Storage } from './storage.ts'
import type { Dialect } from './dialect.ts'

export interface PlatformParts {
  readonly storage: Storage
  readonly incidents: Incidents
  /** Undefined: all services exist. */
  readonly services: Fixture['services']
  readonly views: Views
  /** Age at which the list shows a pipe: ms. */
  readonly listLagMs: number
  readonly fields: Fields
}

/** `spec/api.md` 4. Never throws for a caller's mistake. */
export type Platform = Readonly<Record<Operation, (call: Call) => Answer>>

type Found<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly answer: Answer }

export function createPlatform({
  storage,
  incidents,
  services,
  views,
  fields,
  listLagMs,
}: PlatformParts): Platform {
  const { dialect } = views
  const refusals = createRefusals({ storage, services, dialect })
  const { refuse, objectionToPath, objectionToService } = refusals
  const PipeRequest = z.strictObject(dialect.pipeShape)
  return {
    createPipe,
    getPipe,
    listPipes,
    updatePipe: (call) => changePipe(call, 'update', viewWhileMoving),
    scalePipe: (call) => changePipe(call, 'scale', viewWhileMoving),
    putPipeSettings: (call) => changePipe(call, 'configure', ({ pipe }) => settingsOf(pipe)),
    setPipeState: (call) => changePipe(call, 'command', viewWhileMoving),
    deletePipe,
    ...createQueryEndpoints({ storage, dialect, refusals }),
    ...createAlerts({ storage, incidents, dialect, listLagMs, refusals }),
  }

  function createPipe(call: Call): Answer {
    const wrong = objectionToPath(call) ?? objectionToService(call)
    if (wrong !== undefined) return wrong
    const body = readBody(call, PipeRequest)
    if (!body.ok) return refuse(call, 400, body.error)
    const objection = dialect.objectionTo(body.json)
    if (objection !== undefined) return refuse(call, 400, objection)
    const id = randomUUID()
    const { startPaused, ...asked } = body.json
    const pipe: StoredPipe = {
      id,
      ...serviceOf(call),
      createdAt: call.now,
      updatedAt: call.now,
      body: withoutRequestOnly(fields, asked),
      incidents: [],
      internals:
        startPaused === true
          ? { ...dialect.changes?.internals(id, asked), moves: { since: call.now, states: ['Stopped'] } }
          : dialect.changes?.internals(id, asked),
    }
    storage.putPipe(pipe)
    return envelope(call.requestId, view(pipe, call))
  }

  function getPipe(call: Call): Answer {
    const found = findPipe(call)
    return found.ok ? envelope(call.requestId, view(found.pipe, call)) : found.answer
  }

  function listPipes(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const { organizationId, serviceId } = serviceOf(call)
    const there = storage
      .pipes()
      .filter((pipe) => pipe.organizationId === organizationId && pipe.serviceId === serviceId)
      .filter((pipe) => call.now - pipe.createdAt >= listLagMs)
      .flatMap((pipe) => incidents.advancePipe(pipe, call.now) ?? [])
    return envelope(
      call.requestId,
      there.map((pipe) => view(pipe, call)),
    )
  }

  function changePipe(
    call: Call,
    how: Exclude<keyof PipeChanges, 'internals'>,
    reply: (changed: {
      readonly pipe: StoredPipe
      readonly state: string
      readonly call: Call
    }) => JsonObject,
  ): Answer {
    const found = findPipe(call)
    if (!found.ok) return found.answer
    const asleep = objectionToService(call)
    if (asleep !== undefined) return asleep
    if (found.pipe.internals?.deletedAt !== undefined) return refuse(call, 409, 'the pipe is being deleted')
    const body = readObject(call)
    if (!body.ok) return refuse(call, 400, body.error)
    const state = stateOf(found.pipe, { now: call.now, ...views })
    const before = { pipe: found.pipe, state, now: call.now }
    const change: Change | undefined = dialect.changes?.[how](before, body.json)
    if (change === undefined) return refuse(call, 404, 'pipes do not change here')
    if (!change.ok) return failure(call.requestId, change.status, change.error)
    storage.putPipe(change.pipe)
    return envelope(call.requestId, reply({ pipe: change.pipe, state, call }))
  }

  function deletePipe(call: Call): Answer {
    const found = findPipe(call)
    if (!found.ok) return found.answer
    const { pipe } = found
    const deletedAt = pipe.internals?.deletedAt ?? call.now
    storage.putPipe({ ...pipe, internals: { ...pipe.internals, deletedAt } })
    return emptyEnvelope(call.requestId)
  }

  function findPipe(call: Call): Found<{ readonly pipe: StoredPipe }> {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return { ok: false, answer: wrong }
    const pipe = storage.pipe(call.params['pipeId']?.toLowerCase() ?? '')
    const { organizationId, serviceId } = serviceOf(call)
    const owned = pipe?.organizationId === organizationId && pipe.serviceId === serviceId ? pipe : undefined
    const now = owned && incidents.advancePipe(owned, call.now)
    return now === undefined
      ? { ok: false, answer: refuse(call, 404, 'no such pipe in this service') }
      : { ok: true, pipe: now }
  }

  function view(pipe: StoredPipe, { now }: Call): JsonObject {
    return viewPipe(pipe, { now, ...views })
  }

  /** The reply can be earlier than the change (facts 6.1). */
  function viewWhileMoving(changed: {
    readonly pipe: StoredPipe
    readonly state: string
    readonly call: Call
  }): JsonObject {
    return { ...view(changed.pipe, changed.call), state: changed.state }
  }
}

function settingsOf({ body }: StoredPipe): JsonObject {
  return (body['settings'] ?? {}) as JsonObject // its schema says so
}

type QueryEndpointOperation = Extract<Operation, `${string}QueryEndpoint`>

/** `spec/api.md` 4.3. */
function createQueryEndpoints({
  storage,
  dialect,
  refusals: { refuse, objectionToPath },
}: {
  readonly storage: Storage
  readonly dialect: Dialect
  readonly refusals: Refusals
}): Readonly<Record<QueryEndpointOperation, (call: Call) => Answer>> {
  return { upsertQueryEndpoint, getQueryEndpoint, deleteQueryEndpoint }

  function upsertQueryEndpoint(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const body = readBody(call, dialect.endpointRequest)
    if (!body.ok) return refuse(call, 400, body.error)
    const service = serviceOf(call)
    const before = storage.endpoint(service.organizationId, service.serviceId)
    const result: JsonObject = {
      id: before?.body['id'] ?? randomUUID(),
      openApiKeys: body.value.openApiKeys ?? [],
      roles: body.value.roles ?? [],
      allowedOrigins: body.value.allowedOrigins ?? '',
    }
    storage.putEndpoint({ ...service, body: result })
    return envelope(call.requestId, result)
  }

  function getQueryEndpoint(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const { organizationId, serviceId } = serviceOf(call)
    const endpoint = storage.endpoint(organizationId, serviceId)
    if (endpoint === undefined) return refuse(call, 404, 'no query endpoint of this service')
    return envelope(call.requestId, endpoint.body)
  }

  function deleteQueryEndpoint(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const { organizationId, serviceId } = serviceOf(call)
    return storage.removeEndpoint(organizationId, serviceId)
      ? emptyEnvelope(call.requestId)
      : refuse(call, 404, 'no query endpoint of this service')
  }
}
