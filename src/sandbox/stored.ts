import { SECRET_FIELDS } from '../lib/sensitive.ts'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { type Fields, isRecords, isRequestOnly, plainForm } from '../kinds/field-table.ts'
import type { Operation } from './request-schema.ts'

/** A pipe without request-only fields. */
export interface StoredPipe {
  readonly id: string
  readonly organizationId: string
  readonly serviceId: string
  /** ms since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  /** `state` only if set, otherwise computed from the time. */
  readonly body: JsonObject
  readonly incidents: readonly string[]
  readonly internals?: PipeInternals | undefined
}

/** Not in replies. */
export type PipeInternals = {
  /** States in turn, from `since` (ms); the last stays. */
  readonly moves?: { readonly since: number; readonly states: readonly string[] }
  /** Last change of size: ms. */
  readonly scaledAt?: number
  /** Time of the delete request: ms. */
  readonly deletedAt?: number
  /** Digest per credential field. */
  readonly credentials?: Readonly<Record<string, string>>
  readonly credentialsRevision?: number
}

export interface StoredService {
  readonly organizationId: string
  readonly serviceId: string
  readonly state: string
}

/** One per service. */
export interface StoredEndpoint {
  readonly organizationId: string
  readonly serviceId: string
  /** `spec/api.md` 2.7. */
  readonly body: JsonObject
}

export interface StoredAlert {
  readonly id: string
  /** ms since the epoch. */
  readonly at: number
  /** Undefined: from a fixture, in every service. */
  readonly service?: { readonly organizationId: string; readonly serviceId: string } | undefined
  /** `spec/api.md` 2.8. */
  readonly body: JsonObject
  readonly incidents: readonly string[]
}

export interface RecordedAnswer {
  /** Undefined: no status was sent. */
  readonly status: number | undefined
  readonly fault: string | undefined
  /** Whether the platform did the work. */
  readonly done: boolean
}

export interface RecordedRequest {
  /** From 1. */
  readonly seq: number
  /** ms since the epoch. */
  readonly at: number
  readonly operation: Operation | undefined
  readonly method: string
  readonly path: string
  /** Without `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  readonly authorization: 'right' | 'wrong' | 'absent'
  /** Key id or number of the alert token. Undefined: not valid. */
  readonly credential: string | undefined
  /** JSON or text. Masked in a file and over HTTP. */
  readonly body: unknown
  /** Recorded but ignored: not part of the interface. */
  readonly idempotencyKey: string | undefined
  readonly requestId: string
  readonly answer: RecordedAnswer | undefined
}

/** For files and other processes. */
export function maskSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(maskSecrets)
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    SECRET_FIELDS.has(name) ? '[secret]' : maskSecrets(member ?? null),
  ])
  return Object.fromEntries(members)
}

export interface Row {
  readonly id: string
  readonly organization_id: string
  readonly service_id: string
  readonly created_at: number
  readonly updated_at: number
  readonly at: number
  readonly body: string
  readonly incidents: string
  readonly seq: number
  readonly facts: string
  readonly answer: string | null
  readonly content: string
  readonly internals: string
  readonly state: string
  readonly service: string
}

export function toPipe(row: Row): StoredPipe {
  return {
    id: row.id,
    organizationId: row.organization_id,
    serviceId: row.service_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    body: JSON.parse(row.body) as JsonObject, // putPipe wrote it
    incidents: JSON.parse(row.incidents) as string[], // putPipe wrote it
    internals: JSON.parse(row.internals) as PipeInternals, // putPipe wrote it
  }
}

export function toEndpoint(row: Row): StoredEndpoint {
  const body = JSON.parse(row.body) as JsonObject // putEndpoint wrote it
  return { organizationId: row.organization_id, serviceId: row.service_id, body }
}

export function toService(row: Row): StoredService {
  return { organizationId: row.organization_id, serviceId: row.service_id, state: row.state }
}

export function toAlert(row: Row): StoredAlert {
  const body = JSON.parse(row.body) as JsonObject // putAlert wrote it
  const [organizationId, serviceId] = row.service.split('/')
  const service = organizationId && serviceId ? { organizationId, serviceId } : undefined
  return { id: row.id, at: row.at, service, body, incidents: JSON.parse(row.incidents) as string[] } // putAlert wrote it
}

export function toRequest(row: Row): RecordedRequest {
  const facts = JSON.parse(row.facts) as Omit<RecordedRequest, 'seq' | 'answer'> // addRequest wrote it
  const answer = row.answer === null ? undefined : (JSON.parse(row.answer) as RecordedAnswer) // answerRequest wrote it
  return { ...facts, seq: row.seq, answer }
}

/** In replies (`spec/api.md` 2.1). */
export interface PipeView extends JsonObject {
  readonly id: string
  readonly serviceId: string
  readonly name: string
  readonly state: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly updatedAt: string
}

export type PipeInSandbox = PipeView & {
  readonly organizationId: string
  /** Only if the profile can change credentials. */
  readonly credentialsRevision?: number
}

export function withoutRequestOnly(fields: Fields, body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const field = fields[name]
      if (field === undefined || value === undefined) return [[name, value]]
      if (isRequestOnly(field)) return []
      const form = plainForm(field)
      const isInside = typeof form === 'object' && !isRecords(form) && isObject(value)
      return [[name, isInside ? withoutRequestOnly(form.fields, value) : value]]
    }),
  )
}
