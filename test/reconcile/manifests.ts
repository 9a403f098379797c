import type { JsonObject } from '../../src/lib/json.ts'
import { ORGANIZATION, SERVICE_ID } from '../support/manifests.ts'

/* Manifests as JSON, which is YAML. */

export function service(name = 'analytics', serviceId = SERVICE_ID): string {
  return manifest(
    'Service',
    name,
    {},
    { organizationId: ORGANIZATION, serviceId, credentials: { secretRef: { name: 'api' } } },
  )
}

export interface PipeOptions {
  readonly service?: string
  /** `spec.name`; the manifest says none when this is absent. */
  readonly platformName?: string | undefined
  readonly topics?: string
  readonly replicas?: number
  readonly policy?: JsonObject
  /** More members of the spec; one that nobody knows makes the manifest invalid. */
  readonly more?: JsonObject
}

export function pipe(name: string, options: PipeOptions = {}): string {
  return manifest('Pipe', name, options.policy ?? {}, {
    service: options.service ?? 'analytics',
    ...(options.platformName === undefined ? {} : { name: options.platformName }),
    ...pipeBodyOf(name, options),
    ...options.more,
  })
}

/** What a pipe asks for, but for its name. */
export function pipeBodyOf(name: string, options: Pick<PipeOptions, 'topics' | 'replicas'> = {}): JsonObject {
  return {
    source: {
      kafka: {
        brokers: 'b-1.example:9092',
        topics: options.topics ?? name,
        credentials: { username: 'reader', password: { secretRef: { name: 'kafka', key: 'password' } } },
      },
    },
    destination: { database: 'default', table: 'events', columns: [{ name: 'id', type: 'UInt64' }] },
    fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
    scaling: { replicas: options.replicas ?? 1 },
  }
}

export function endpoint(name: string, spec: JsonObject = {}, policy: JsonObject = {}): string {
  return manifest('QueryEndpoint', name, policy, {
    service: 'analytics',
    roles: ['sql_console_read_only'],
    openApiKeys: ['key-1'],
    allowedOrigins: 'https://app.example',
    ...spec,
  })
}

export function alert(name: string, expect: JsonObject = {}, policy: JsonObject = {}): string {
  return manifest('Alert', name, policy, { id: `id-of-${name}`, expect })
}

export function lock(pipes: Readonly<Record<string, string>>, name = 'lock'): string {
  return JSON.stringify({ apiVersion: 'pipewright/v1', kind: 'Lock', metadata: { name }, spec: { pipes } })
}

export function manifest(kind: string, name: string, policy: JsonObject, spec: JsonObject): string {
  const asked = Object.keys(policy).length === 0 ? {} : { policy }
  return JSON.stringify({ apiVersion: 'pipewright/v1', kind, metadata: { name }, ...asked, spec })
}
