import { ALERT } from '../support/manifests.ts'

/* Manifests in which every field of `spec/api.md` 2.2–2.8 is set, written from that document, not from the schemas. */

export function ref(key: string, name = 'kafka') {
  return { secretRef: { name, key } }
}

const credentials = { username: ref('username'), password: ref('password') }

const accessKey = { accessKeyId: ref('id', 'aws'), secretKey: ref('secret', 'aws') }

export const SOURCES = {
  kafka: {
    brokers: 'b-1.example:9092,b-2.example:9092',
    topics: 'orders,refunds',
    consumerGroup: 'pipewright',
    iamRole: 'arn:aws:iam::1:role/reader',
    offset: { timestamp: '2026-01-31T08:00:00' },
    schemaRegistry: {
      url: 'https://registry.example:8081',
      caCertificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      credentials,
    },
    caCertificate: ref('ca.crt'),
    reversePrivateEndpointIds: ['rpe-1', 'rpe-2'],
    credentials,
  },
  objectStorage: {
    url: 'https://bucket.example/{2025,2026}/*.json',
    delimiter: '|',
    compression: 'gzip',
    isContinuous: true,
    queueUrl: 'https://sqs.example/1/new-files',
    iamRole: 'arn:aws:iam::1:role/reader',
    connectionString: 'AccountName=a;AccountKey=hunter2',
    path: 'orders/*/*.json',
    blobContainerName: 'orders',
    accessKey,
  },
  managedStream: {
    streamName: 'orders',
    region: 'eu-west-1',
    useEnhancedFanOut: false,
    timestamp: 1_769_846_400,
    iamRole: 'arn:aws:iam::1:role/reader',
    accessKey,
  },
  postgres: {
    host: 'db.example',
    port: 5432,
    database: 'shop',
    settings: {
      syncIntervalSeconds: 60,
      pullBatchSize: 100_000,
      publicationName: 'pipewright',
      replicationSlotName: 'pipewright_slot',
      allowNullableColumns: true,
      initialLoadParallelism: 4,
      snapshotNumRowsPerPartition: 100_000,
      snapshotNumberOfParallelTables: 2,
      enableFailoverSlots: false,
    },
    tableMappings: [
      {
        sourceSchemaName: 'public',
        sourceTable: 'orders',
        targetTable: 'orders',
        excludedColumns: ['card', 'iban'],
        useCustomSortingKey: true,
        sortingKeys: ['id', 'day'],
      },
      {
        sourceSchemaName: 'public',
        sourceTable: 'refunds',
        targetTable: 'refunds',
        excludedColumns: [],
        useCustomSortingKey: false,
        sortingKeys: [],
      },
    ],
    credentials,
  },
} as const

export type SourceKind = keyof typeof SOURCES

export const SOURCE_KINDS = ['kafka', 'objectStorage', 'managedStream', 'postgres'] as const

export const DESTINATION = {
  database: 'default',
  table: 'orders',
  managedTable: true,
  tableDefinition: {
    engine: { versionColumnId: 'updated_at', columnIds: ['amount', 'tax'] },
    sortingKey: ['id', 'day'],
    partitionBy: 'toYYYYMM(day)',
    primaryKey: 'id',
  },
  columns: [
    { name: 'id', type: 'UInt64' },
    { name: 'day', type: 'Date' },
  ],
  roles: ['writer', 'reader'],
} as const

const FIELD_MAPPINGS = [
  { sourceField: 'order_id', destinationField: 'id' },
  { sourceField: 'order_day', destinationField: 'day' },
] as const

export const SCALING = {
  replicas: 2,
  concurrency: 3,
  replicaCpuMillicores: 250,
  replicaMemoryGb: 1.5,
} as const

const SETTINGS = {
  streaming_max_insert_wait_ms: 5000,
  object_storage_concurrency: 1,
  object_storage_polling_interval_ms: 30_000,
  object_storage_max_insert_bytes: 10_737_418_240,
  object_storage_max_file_count: 100,
  db_max_threads: 8,
  db_max_insert_threads: 1,
  db_min_insert_block_size_bytes: 1_073_741_824,
  db_max_download_threads: 4,
  db_parallel_distributed_insert_select: 2,
  object_storage_use_cluster_function: true,
  db_parallel_view_processing: false,
} as const

/** A pipe with every field of the interface and of the policy, for one source kind. */
export function fullPipe(kind: SourceKind) {
  return {
    apiVersion: 'pipewright/v1',
    kind: 'Pipe',
    metadata: { name: 'orders', labels: { team: 'payments' } },
    policy: {
      interval: '10m',
      suspend: { reason: 'planned migration', until: '2027-01-31T00:00:00Z' },
      dependsOn: ['Alert/ingest-lag'],
      healthyStates: ['Running'],
      onMissing: 'recreate',
      adopt: '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44',
      renamedFrom: 'Pipe/old-orders',
    },
    spec: {
      service: 'analytics',
      name: 'Orders (live)',
      source: { validateSamples: true, [kind]: SOURCES[kind] },
      destination: DESTINATION,
      fieldMappings: FIELD_MAPPINGS,
      scaling: SCALING,
      settings: SETTINGS,
    },
  }
}

export const FULL_ENDPOINT = {
  apiVersion: 'pipewright/v1',
  kind: 'QueryEndpoint',
  metadata: { name: 'console' },
  policy: { interval: '1h' },
  spec: {
    service: 'analytics',
    roles: ['sql_console_read_only', 'sql_console_admin'],
    openApiKeys: ['key-1', 'key-2'],
    allowedOrigins: 'https://app.example.com, app.example.org:8443',
  },
}

export const FULL_ALERT = {
  apiVersion: 'pipewright/v1',
  kind: 'Alert',
  metadata: { name: 'ingest-lag' },
  policy: { interval: '1m', healthyStates: ['OK'] },
  spec: {
    id: '65f1',
    // A fraction.
    expect: { ...ALERT, id: '65f1', threshold: 10.5 },
  },
}

export const FULL_SERVICE = {
  apiVersion: 'pipewright/v1',
  kind: 'Service',
  metadata: { name: 'analytics' },
  spec: {
    organizationId: '0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11',
    serviceId: '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44',
    credentials: { secretRef: { name: 'analytics-api' } },
  },
}

export const FULL_LOCK = {
  apiVersion: 'pipewright/v1',
  kind: 'Lock',
  metadata: { name: 'pipes' },
  spec: { pipes: { 'Pipe/orders': '7f0d2c9a-1d8e-4f57-8a0b-6d3f5b1c2e44' } },
}
