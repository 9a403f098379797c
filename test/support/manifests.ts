import type { Workspace } from './workspace.ts'

export const ORGANIZATION = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11'
export const SERVICE_ID = '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44'
export const OTHER_SERVICE_ID = '11111111-2222-4333-8444-555555555555'
export const CREDENTIAL = { keyId: 'key-id-of-analytics', keySecret: 'planted-key-secret-7d1' } as const
export const ALERTS_TOKEN = 'planted-alerts-token-93f'
export const KAFKA_PASSWORD = 'planted-kafka-password-55a'

/** An alert with every field of `spec/api.md` 2.8. */
export const ALERT = {
  id: 'alert-1',
  name: 'Ingest lag',
  message: 'Ingestion lags behind',
  threshold: 60,
  interval: '5m',
  thresholdType: 'above',
  source: 'search',
  state: 'OK',
  channel: { type: 'webhook', webhookId: 'hook-1' },
  team: 'team-1',
  tileId: 'tile-1',
  dashboard: 'dashboard-1',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
} as const

/** A `Service` manifest, and whose credentials it uses. */
export interface ServiceOptions {
  readonly name: string
  readonly serviceId: string
  /** Name of its secret; two services may share one. */
  readonly secret: string
}

export const ANALYTICS: ServiceOptions = { name: 'analytics', serviceId: SERVICE_ID, secret: 'analytics-api' }

/** The first lines of a manifest. */
export function head(kind: string, name: string): string {
  return `apiVersion: pipewright/v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`
}

export function serviceManifest({ name, serviceId, secret }: ServiceOptions): string {
  return `${head('Service', name)}spec:
  organizationId: ${ORGANIZATION}
  serviceId: ${serviceId}
  credentials: {secretRef: {name: ${secret}}}
`
}

export const SERVICE = serviceManifest(ANALYTICS)

export interface PipeOptions {
  /** `spec.name`; also its topic and table. The manifest says none when this is absent. */
  readonly name?: string
  readonly service?: string
  readonly replicas?: number
  /** Key of the policy → value, as YAML. */
  readonly policy?: Readonly<Record<string, string>>
  /** YAML of further top-level members. */
  readonly more?: string
}

export function pipeManifest(key: string, options: PipeOptions = {}): string {
  const { name, service = ANALYTICS.name, replicas = 1, policy = {}, more = '' } = options
  const rules = Object.entries(policy).map(([member, value]) => `${member}: ${value}`)
  return `${head('Pipe', key)}${rules.length === 0 ? more : `policy: {${rules.join(', ')}}`}
spec:${name === undefined ? '' : `\n  name: ${name}`}
  service: ${service}
  source:
    kafka:
      brokers: b-1.example:9092
      topics: ${name ?? key}
      credentials:
        username: reader
        password: {secretRef: {name: kafka, key: password}}
  destination: {database: default, table: ${name ?? key}, columns: [{name: id, type: UInt64}]}
  fieldMappings: [{sourceField: id, destinationField: id}]
  scaling: {replicas: ${replicas}}
`
}

/** What the platform shows of what {@link pipeManifest} asks for. */
export function pipeBody(name: string) {
  return {
    name,
    source: { kafka: { brokers: 'b-1.example:9092', topics: name } },
    destination: { database: 'default', table: name, columns: [{ name: 'id', type: 'UInt64' }] },
    fieldMappings: [{ sourceField: 'id', destinationField: 'id' }],
    scaling: { replicas: 1 },
  }
}

/** Such a pipe, for a fixture of the sandbox. */
export function pipeThere(id: string, name: string, more: object = {}) {
  return { id, organizationId: ORGANIZATION, serviceId: SERVICE_ID, ...pipeBody(name), ...more }
}

export function alertManifest(name: string, id: string): string {
  return `${head('Alert', name)}spec: {id: ${id}}\n`
}

export const ENDPOINT = `${head('QueryEndpoint', 'analytics')}spec:
  service: analytics
  roles: [sql_console_read_only]
  openApiKeys: [key-1]
  allowedOrigins: https://app.example
`

/** What most tests begin with: the Service, some small pipes, and their secrets. */
export function furnish(workspace: Workspace, ...pipes: readonly string[]): void {
  mountSecrets(workspace)
  workspace.write('manifests/service.yaml', SERVICE)
  for (const name of pipes) workspace.write(`manifests/${name}.yaml`, pipeManifest(name))
}

/** The secrets that these manifests refer to. */
export function mountSecrets(workspace: Workspace): void {
  mountCredential(workspace, 'analytics-api', CREDENTIAL)
  workspace.write('secrets/kafka/password', KAFKA_PASSWORD)
  workspace.write('credentials/alerts/token', ALERTS_TOKEN)
}

/** The API key that the manifest of a Service refers to by the name of its secret. */
export function mountCredential(
  workspace: Workspace,
  secret: string,
  { keyId, keySecret }: { readonly keyId: string; readonly keySecret: string },
): void {
  workspace.write(`credentials/${secret}/keyId`, keyId)
  workspace.write(`credentials/${secret}/keySecret`, keySecret)
}

/** Arguments of a run against a platform at `url`, with everything else in the workspace. */
export function runArgs(workspace: Workspace, url: string, more: readonly string[] = []): readonly string[] {
  return [
    'run',
    ...platformArgs(workspace, url),
    '--listen',
    '127.0.0.1:0',
    '--api-budget',
    '1000/1s',
    ...more,
  ]
}

export function platformArgs(workspace: Workspace, url: string): readonly string[] {
  return [
    '--manifests',
    workspace.manifests,
    '--credentials-dir',
    workspace.credentials,
    '--secrets-dir',
    workspace.secrets,
    '--ledger',
    `sqlite:${workspace.path('ledger.db')}`,
    '--base-url',
    url,
    '--alerts-base-url',
    url,
  ]
}
