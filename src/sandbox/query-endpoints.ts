import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../lib/json.ts'
import { type Answer, emptyEnvelope, envelope } from './answer.ts'
import { type Call, readBody, serviceOf } from './call.ts'
import type { Dialect } from './dialect.ts'
import type { Refusals } from './refusals.ts'
import type { Operation } from './request-schema.ts'
import type { Storage } from './storage.ts'

type QueryEndpointOperation = Extract<Operation, `${string}QueryEndpoint`>

/** `spec/api.md` 4.3. */
export function createQueryEndpoints({
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
