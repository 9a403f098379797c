import { randomUUID } from 'node:crypto'
import { z } from '../kinds/zod.ts'
import type { Fields } from '../kinds/field-table.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { type Answer, bare, envelope, failure } from './answer.ts'
import type { Fixture } from './fixture.ts'
import type { Incidents } from './incidents.ts'
import { viewPipe, type Views, withoutRequestOnly } from './stored.ts'
import { type Operation, wordIssues } from './request-schema.ts'
import type { Storage } from './storage.ts'

/** One request whose credentials are right. */
export interface Call {
  readonly params: Readonly<Record<string, string>>
  readonly contentType: string | undefined
  /** The body as it came. */
  readonly text: string
  readonly requestId: string
  /** ms since the epoch. */
  readonly now: number
}

export interface PlatformParts {
  readonly storage: Storage
  readonly incidents: Incidents
  /** The services there are; any when undefined. */
  readonly services: Fixture['services']
  readonly views: Views
  /** So long after it came to be, a pipe is in the list of all: ms. */
  readonly listLagMs: number
  /** Of a pipe: which of them are never given back. */
  readonly fields: Fields
}

/** What the platform does for each operation (`spec/api.md` 4). Never throws for what a caller did wrong. */
export type Platform = Readonly<Record<Operation, (call: Call) => Answer>>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function createPlatform({
  storage,
  incidents,
  services,
  views,
  fields,
  listLagMs,
}: PlatformParts): Platform {
  const { dialect } = views
  const PipeRequest = z.strictObject(dialect.pipeShape)
  return { createPipe, getPipe, upsertQueryEndpoint, getAlert, getServiceAlert, listPipes }

  function createPipe(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const body = read(call, PipeRequest)
    if (!body.ok) return failure(call.requestId, 400, body.error)
    const objection = dialect.objectionTo(body.json)
    if (objection !== undefined) return failure(call.requestId, 400, objection)
    const pipe = {
      id: randomUUID(),
      ...serviceOf(call),
      createdAt: call.now,
      updatedAt: call.now,
      body: withoutRequestOnly(fields, body.json),
      incidents: [],
    }
    storage.putPipe(pipe)
    return envelope(call.requestId, viewPipe(pipe, { now: call.now, ...views }))
  }

  function getPipe(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const pipe = storage.pipe(call.params['pipeId']?.toLowerCase() ?? '')
    const { organizationId, serviceId } = serviceOf(call)
    const owned = pipe?.organizationId === organizationId && pipe.serviceId === serviceId ? pipe : undefined
    const now = owned && incidents.advancePipe(owned, call.now)
    if (now === undefined) return failure(call.requestId, 404, 'no such pipe in this service')
    return envelope(call.requestId, viewPipe(now, { now: call.now, ...views }))
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
      there.map((pipe) => viewPipe(pipe, { now: call.now, ...views })),
    )
  }

  function upsertQueryEndpoint(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const body = read(call, dialect.endpointRequest)
    if (!body.ok) return failure(call.requestId, 400, body.error)
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

  function getAlert(call: Call): Answer {
    const alert = storage.alert(call.params['id'] ?? '')
    if (alert === undefined) return failure(call.requestId, 404, 'no such alert')
    return bare(incidents.advanceAlert(alert, call.now).body)
  }

  function getServiceAlert(call: Call): Answer {
    const { id = '', ...service } = call.params
    const wrong = objectionToPath({ ...call, params: service })
    if (wrong !== undefined) return wrong
    const alert = storage.alert(id)
    if (alert === undefined) return failure(call.requestId, 404, 'NOT_FOUND: no such alert')
    return envelope(call.requestId, incidents.advanceAlert(alert, call.now).body)
  }

  function objectionToPath(call: Call): Answer | undefined {
    const bad = Object.entries(call.params).find(([, value]) => !UUID.test(value))
    if (bad !== undefined) return failure(call.requestId, 400, `${bad[0]}: must be a UUID`)
    const asked = serviceOf(call)
    const known =
      services?.some(
        ({ organizationId, serviceId }) =>
          organizationId.toLowerCase() === asked.organizationId &&
          serviceId.toLowerCase() === asked.serviceId,
      ) ?? true
    return known ? undefined : failure(call.requestId, 404, 'no such service in this organization')
  }
}

function serviceOf(call: Call): { readonly organizationId: string; readonly serviceId: string } {
  const { organizationId = '', serviceId = '' } = call.params
  return { organizationId: organizationId.toLowerCase(), serviceId: serviceId.toLowerCase() }
}

type Reading<T> =
  | { readonly ok: true; readonly value: T; readonly json: JsonObject }
  | { readonly ok: false; readonly error: string }

/** The body as `schema` wants it, and as it came; or what is wrong with it, without a value from it. */
function read<T>(call: Call, schema: z.ZodType<T>): Reading<T> {
  if (!/^application\/json\s*(;|$)/i.test(call.contentType ?? '')) {
    return { ok: false, error: 'Content-Type: must be application/json' }
  }
  const json = parseJson(call.text)
  if (!isObject(json)) return { ok: false, error: 'body: must be a JSON object' }
  const result = schema.safeParse(json)
  return result.success
    ? { ok: true, value: result.data, json }
    : { ok: false, error: wordIssues(result.error) }
}

/** The JSON of a text, or `undefined`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
