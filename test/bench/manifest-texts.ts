import { ALERT, ORGANIZATION } from '../support/manifests.ts'

/* Manifests as people write them: one to three kilobytes a pipe, comments, block style with some flow style. */

/** Name of the secret that every service signs in with, so that one budget serves them all. */
export const SECRET = 'bench-api'

export function idOf(group: number, n: number): string {
  return `${String(group).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`
}

export function serviceText(n: number): string {
  return `apiVersion: pipewright/v1
kind: Service
metadata:
  name: service-${n}
  labels: { team: team${n % 12} }
spec:
  organizationId: ${ORGANIZATION}
  serviceId: ${idOf(1, n)}
  credentials: { secretRef: { name: ${SECRET} } }
`
}

export function endpointText(n: number): string {
  return `apiVersion: pipewright/v1
kind: QueryEndpoint
metadata:
  name: endpoint-${n}
spec:
  service: service-${n}
  roles: [sql_console_read_only]
  openApiKeys: [key-${n}-a, key-${n}-b]
  allowedOrigins: https://app${n}.example, https://intern${n}.example:8443
`
}

export function alertText(n: number, services: number): string {
  return `# Fires when ingestion falls behind.
apiVersion: pipewright/v1
kind: Alert
metadata:
  name: lag-${n}
  labels:
    team: team${n % 12}
    service: service-${n % services}
policy:
  healthyStates: [OK]
spec:
  id: alert-${n}
  expect:
    name: Ingest lag ${n}
    message: 'Ingestion of team ${n % 12} lags behind; see the runbook.'
    threshold: ${60 + (n % 7)}
    interval: 5m
    thresholdType: above
`
}

/** What the platform answers for an alert; as {@link alertText} expects it. */
export function alertBody(n: number): Readonly<Record<string, unknown>> {
  return {
    ...ALERT,
    id: `alert-${n}`,
    name: `Ingest lag ${n}`,
    message: `Ingestion of team ${n % 12} lags behind; see the runbook.`,
    threshold: 60 + (n % 7),
    team: `team${n % 12}`,
    tileId: `tile-${n}`,
  }
}

const TYPES = [
  'UInt64',
  'String',
  'DateTime64(3)',
  'LowCardinality(String)',
  'Decimal(18, 2)',
  'UUID',
  'Bool',
]

/** A pipe; `replicas` is what an edit changes. */
export function pipeText(n: number, services: number, replicas = 1 + (n % 3)): string {
  const columns = Array.from(
    { length: 4 + (n % 8) },
    (_, at) => `column_${at}_${TYPES[at % 7]?.slice(0, 4).toLowerCase()}`,
  )
  return `# Owned by team ${n % 12}; ask in #ingest-${n % 12} before a change.
apiVersion: pipewright/v1
kind: Pipe
metadata:
  name: pipe-${n}
  labels:
    team: team${n % 12}
    tier: ${n % 2 === 0 ? 'gold' : 'bronze'}
policy:
  healthyStates: [Running]
spec:
  service: service-${n % services}
  source:
${SOURCES[n % SOURCES.length]?.(n) ?? ''}
  destination:
    database: lake_${n % 9}
    table: events_${n}
    managedTable: true
    tableDefinition:
      sortingKey: [${columns[0]}, ${columns[1]}]
      partitionBy: toYYYYMM(${columns[2]})
    columns:
${columns.map((name, at) => `      - name: ${name}\n        type: ${TYPES[at % 7]}`).join('\n')}
  fieldMappings:
${columns.map((name) => `    - { sourceField: payload.${name.replaceAll('_', '-')}, destinationField: ${name} }`).join('\n')}
  scaling: { replicas: ${replicas}, concurrency: 2, replicaCpuMillicores: 500, replicaMemoryGb: 0.5 }
  settings:
    streaming_max_insert_wait_ms: ${1000 + (n % 5) * 500}
    db_max_threads: 4
`
}

const secret = (key: string) => `{ secretRef: { name: source, key: ${key} } }`

const SOURCES: readonly ((n: number) => string)[] = [
  (n) => `    kafka:
      brokers: b-1.team${n % 12}.example:9092,b-2.team${n % 12}.example:9092,b-3.team${n % 12}.example:9092
      topics: events.${n}
      consumerGroup: ingest-${n}
      offset: { timestamp: '2026-01-31T08:00:00' }
      credentials:
        username: ${secret('username')}
        password: ${secret('password')}`,
  (n) => `    objectStorage:
      url: https://bucket-${n % 40}.s3.eu-central-1.example/exports/${n}/*/*.json.gz
      compression: gzip
      isContinuous: true # new files are taken as they come
      queueUrl: https://sqs.eu-central-1.example/210987654321/exports-${n}
      accessKey:
        accessKeyId: ${secret('accessKeyId')}
        secretKey: ${secret('secretKey')}`,
  (n) => `    managedStream:
      streamName: stream-${n}
      region: eu-central-1
      useEnhancedFanOut: true
      timestamp: 1767225600
      iamRole: arn:aws:iam::210987654321:role/stream-reader-${n % 40}`,
  (n) => `    postgres:
      host: db-${n % 40}.team${n % 12}.example
      port: 5432
      database: shop_${n % 9}
      settings:
        syncIntervalSeconds: 60
        pullBatchSize: 100000
        publicationName: ingest_${n}
      tableMappings:
        - sourceSchemaName: public
          sourceTable: orders_${n}
          targetTable: events_${n}
          excludedColumns: [card_number, cvc]
      credentials:
        username: ${secret('username')}
        password: ${secret('password')}`,
]
