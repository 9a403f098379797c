import { SECRET_FIELDS } from '../lib/sensitive.ts'
import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { type Fields, isRecords, isRequestOnly, plainForm } from '../kinds/field-table.ts'
import type { Operation } from './request-schema.ts'

/** A pipe as the sandbox keeps it: nothing that is request-only is in `body`. */
export interface StoredPipe {
  readonly id: string
  readonly organizationId: string
  readonly serviceId: string
  /** ms since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  /** `name`, `source` and so on; `state` only when somebody set it, otherwise it follows from the time. */
  readonly body: JsonObject
  /** Incidents that already happened to it. */
  readonly incidents: readonly string[]
  /** Nothing where the profile never changes a pipe, or nothing has happened to it yet. */
  readonly internals?: PipeInternals | undefined
}

/** What the platform knows of a pipe, and no reply shows as it is. */
export type PipeInternals = {
  /** The states that it goes through from then on (ms), one after the other; the last one stays. */
  readonly moves?: { readonly since: number; readonly states: readonly string[] }
  /** When its size was set: ms. */
  readonly scaledAt?: number
  /** When somebody asked to delete it: ms. */
  readonly deletedAt?: number
  /** Of each part of its credentials a digest. */
  readonly credentials?: Readonly<Record<string, string>>
  /** How often its credentials have changed since it was created. */
  readonly credentialsRevision?: number
}

/** A service whose state somebody set; any other is running. */
export interface StoredService {
  readonly organizationId: string
  readonly serviceId: string
  readonly state: string
}

/** A query endpoint; there is one for a service. */
export interface StoredEndpoint {
  readonly organizationId: string
  readonly serviceId: string
  /** `spec/api.md` 2.7. */
  readonly body: JsonObject
}

export interface StoredAlert {
  readonly id: string
  /** When it came into being here: ms since the epoch. */
  readonly at: number
  /** The one in which it was created; undefined: of a fixture, and in any. */
  readonly service?: { readonly organizationId: string; readonly serviceId: string } | undefined
  /** `spec/api.md` 2.8. */
  readonly body: JsonObject
  readonly incidents: readonly string[]
}

/** How a request was answered. */
export interface RecordedAnswer {
  /** Undefined when the connection was cut, reset or left hanging before a status went out. */
  readonly status: number | undefined
  /** The type of the fault that happened to it. */
  readonly fault: string | undefined
  /** Whether the platform did its work, or would have and refused. */
  readonly done: boolean
}

/** One request as it came in. */
export interface RecordedRequest {
  /** From 1, in the order of arrival. */
  readonly seq: number
  /** ms since the epoch. */
  readonly at: number
  /** Undefined when the path is none of the interface. */
  readonly operation: Operation | undefined
  readonly method: string
  readonly path: string
  /** All but `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  readonly authorization: 'right' | 'wrong' | 'absent'
  /** The key id, or which alert token; undefined unless it was right. */
  readonly credential: string | undefined
  /** Parsed when it is JSON, else its text; in a file and over HTTP, passwords and secret keys are masked. */
  readonly body: unknown
  /** Recorded, and not honoured: the interface does not know it. */
  readonly idempotencyKey: string | undefined
  /** Of the answer. */
  readonly requestId: string
  /** Undefined while it is being worked on. */
  readonly answer: RecordedAnswer | undefined
}

/** `value` with every password and secret key replaced; for what is written to a disk or shown to another process. */
export function maskSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(maskSecrets)
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    SECRET_FIELDS.has(name) ? '[secret]' : maskSecrets(member ?? null),
  ])
  return Object.fromEntries(members)
}

/** All columns of all tables; each reader takes those that its table has. */
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
    internals: JSON.parse(row.internals) as PipeInternals, // so it did this
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
  return { id: row.id, at: row.at, service, body, incidents: JSON.parse(row.incidents) as string[] } // so it did these
}

export function toRequest(row: Row): RecordedRequest {
  const facts = JSON.parse(row.facts) as Omit<RecordedRequest, 'seq' | 'answer'> // addRequest wrote it
  const answer = row.answer === null ? undefined : (JSON.parse(row.answer) as RecordedAnswer) // answerRequest did
  return { ...facts, seq: row.seq, answer }
}

/** A pipe as replies show it (`spec/api.md` 2.1). */
export interface PipeView extends JsonObject {
  readonly id: string
  readonly serviceId: string
  readonly name: string
  readonly state: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly updatedAt: string
}

/** A view together with what replies do not carry. */
export type PipeInSandbox = PipeView & {
  readonly organizationId: string
  /** How often its credentials have changed; only where the profile can change them. */
  readonly credentialsRevision?: number
}

/** A body as it is kept: what a request says, but for the fields that are never given back. */
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
