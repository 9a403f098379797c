import type { JsonObject } from '../lib/json.ts'
import type { RecordedAnswer, RecordedRequest, StoredAlert, StoredEndpoint, StoredPipe } from './stored.ts'

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
  }
}

export function toEndpoint(row: Row): StoredEndpoint {
  const body = JSON.parse(row.body) as JsonObject // putEndpoint wrote it
  return { organizationId: row.organization_id, serviceId: row.service_id, body }
}

export function toAlert(row: Row): StoredAlert {
  const body = JSON.parse(row.body) as JsonObject // putAlert wrote it
  return { id: row.id, at: row.at, body, incidents: JSON.parse(row.incidents) as string[] } // so it did these
}

export function toRequest(row: Row): RecordedRequest {
  const facts = JSON.parse(row.facts) as Omit<RecordedRequest, 'seq' | 'answer'> // addRequest wrote it
  const answer = row.answer === null ? undefined : (JSON.parse(row.answer) as RecordedAnswer) // answerRequest did
  return { ...facts, seq: row.seq, answer }
}
