import type { JsonObject } from '../lib/json.ts'

/** In lower case. */
export interface ServiceIds {
  readonly organizationId: string
  readonly serviceId: string
}

export interface StoredPipe extends ServiceIds {
  readonly id: string
  /** ms since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Without write-only fields. Has a `state` only if one was set. Otherwise, `stateOf` computes the state. */
  readonly body: JsonObject
  readonly incidents: readonly string[]
  readonly internals?: PipeInternals | undefined
}

export interface PipeInternals {
  /** States to pass through from `since` (ms since the epoch). The last one stays. */
  readonly moves?: { readonly since: number; readonly states: readonly string[] }
  /** ms since the epoch. */
  readonly scaledAt?: number
  /** ms since the epoch. */
  readonly deletedAt?: number
  /** Digest per credential field. */
  readonly credentials?: Readonly<Record<string, string>>
  readonly credentialsRevision?: number
}

export interface StoredService extends ServiceIds {
  readonly state: string
}

export interface StoredEndpoint extends ServiceIds {
  readonly body: JsonObject
}

export interface StoredAlert extends Pick<StoredPipe, 'id' | 'createdAt' | 'body' | 'incidents'> {
  /** Empty for an alert of a fixture, because each service has that alert. */
  readonly service: string
}

export interface RecordedRequest {
  /** From 1. */
  readonly seq: number
  /** ms since the epoch. */
  readonly at: number
  readonly operation: string | undefined
  readonly method: string
  readonly path: string
  /** Without `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  readonly authorization: 'right' | 'wrong' | 'absent'
  /** Key id, or `alert token N`. Undefined: not valid. */
  readonly credential: string | undefined
  /** JSON or text. Secrets are masked in a file and over HTTP. */
  readonly body: unknown
  readonly idempotencyKey: string | undefined
  readonly requestId: string
  readonly answer: RecordedAnswer | undefined
}

export interface RecordedAnswer {
  readonly status: number | undefined
  readonly fault: string | undefined
  readonly done: boolean
}

export function lowerCaseIds({ organizationId, serviceId }: ServiceIds): ServiceIds {
  return { organizationId: organizationId.toLowerCase(), serviceId: serviceId.toLowerCase() }
}

export function servicePath({ organizationId, serviceId }: ServiceIds): string {
  return `${organizationId}/${serviceId}`
}
