import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { isObject, type JsonObject } from '../lib/json.ts'
import { type Answer, bare, envelope, failure } from './answer.ts'
import type { Fixture } from './fixture.ts'
import type { Incidents } from './incidents.ts'
import { viewPipe, withoutRequestOnly } from './stored.ts'
import {
  objectionTo,
  type Operation,
  PipeRequest,
  QueryEndpointRequest,
  wordIssues,
} from './request-schema.ts'
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
  /** How long a new pipe is `Provisioning`. */
  readonly provisioningMs: number
}

/** What the platform does for each operation (`spec/api.md` 4). Never throws for what a caller did wrong. */
export type Platform = Readonly<Record<Operation, (call: Call) => Answer>>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function createPlatform({ storage, incidents, services, provisioningMs }: PlatformParts): Platform {
  return { createPipe, getPipe, upsertQueryEndpoint, getAlert }

  function createPipe(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const body = read(call, PipeRequest)
    if (!body.ok) return failure(call.requestId, 400, body.error)
    const objection = objectionTo(body.value)
    if (objection !== undefined) return failure(call.requestId, 400, objection)
    const pipe = {
      id: randomUUID(),
      ...serviceOf(call),
      createdAt: call.now,
      updatedAt: call.now,
      body: withoutRequestOnly(body.json),
      incidents: [],
    }
    storage.putPipe(pipe)
    return envelope(call.requestId, viewPipe(pipe, call.now, provisioningMs))
  }

  function getPipe(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const pipe = storage.pipe(call.params['pipeId']?.toLowerCase() ?? '')
    const { organizationId, serviceId } = serviceOf(call)
    const owned = pipe?.organizationId === organizationId && pipe.serviceId === serviceId ? pipe : undefined
    const now = owned && incidents.advancePipe(owned, call.now)
    if (now === undefined) return failure(call.requestId, 404, 'no such pipe in this service')
    return envelope(call.requestId, viewPipe(now, call.now, provisioningMs))
  }

  function upsertQueryEndpoint(call: Call): Answer {
    const wrong = objectionToPath(call)
    if (wrong !== undefined) return wrong
    const body = read(call, QueryEndpointRequest)
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
