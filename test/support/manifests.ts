import type { Workspace } from './workspace.ts'

export const ORGANIZATION = '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11'
export const SERVICE_ID = '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44'
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

export const SERVICE = `apiVersion: pipewright/v1
kind: Service
metadata: {name: analytics}
spec:
  organizationId: ${ORGANIZATION}
  serviceId: ${SERVICE_ID}
  credentials: {secretRef: {name: analytics-api}}
`

/** A small pipe; `more` is YAML of further top-level members, such as a policy. */
export function pipeManifest(
  name: string,
  options: { readonly replicas?: number; readonly more?: string } = {},
): string {
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: ${name}}
${options.more ?? ''}
spec:
  service: analytics
  source:
    kafka:
      brokers: b-1.example:9092
      topics: ${name}
      credentials:
        username: reader
        password: {secretRef: {name: kafka, key: password}}
  destination: {database: default, table: ${name}, columns: [{name: id, type: UInt64}]}
  fieldMappings: [{sourceField: id, destinationField: id}]
  scaling: {replicas: ${options.replicas ?? 1}}
`
}

export function alertManifest(name: string, id: string): string {
  return `apiVersion: pipewright/v1
kind: Alert
metadata: {name: ${name}}
spec: {id: ${id}}
`
}

export const ENDPOINT = `apiVersion: pipewright/v1
kind: QueryEndpoint
metadata: {name: analytics}
spec:
  service: analytics
  roles: [sql_console_read_only]
  openApiKeys: [key-1]
  allowedOrigins: https://app.example
`

/** The secrets that these manifests refer to. */
export function mountSecrets(workspace: Workspace): void {
  mountCredential(workspace, 'analytics-api', CREDENTIAL)
  workspace.write('secrets/kafka/password', KAFKA_PASSWORD)
  workspace.write('secrets/alerts/token', ALERTS_TOKEN)
}

/** The API key that the manifest of a Service refers to by the name of its secret. */
export function mountCredential(
  workspace: Workspace,
  secret: string,
  { keyId, keySecret }: { readonly keyId: string; readonly keySecret: string },
): void {
  workspace.write(`secrets/${secret}/keyId`, keyId)
  workspace.write(`secrets/${secret}/keySecret`, keySecret)
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
