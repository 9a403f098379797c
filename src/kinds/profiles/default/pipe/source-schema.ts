import { AccessKey, Certificate, SensitiveText, UserCredentials } from '../../../secret-ref.ts'
import { Count, Flag, HostName, OrderedTexts, Text, TextSet, Url, z } from '../../../zod.ts'
import { isRealDateTime } from '../../../instant.ts'

const KafkaSource = z.strictObject({
  brokers: Text.optional()
    .describe('Comma-separated list of brokers, each host:port.')
    .meta({ form: 'comma-list', identifies: true, examples: ['b-1.example:9092,b-2.example:9092'] }),
  topics: Text.optional()
    .describe('Comma-separated list of topics.')
    .meta({ form: 'comma-list', identifies: true, examples: ['orders,refunds'] }),
  consumerGroup: Text.optional().describe('Consumer group to read as.'),
  iamRole: Text.optional().describe('Role identifier for cloud-role authentication.'),
  offset: z
    .strictObject({
      timestamp: z
        .string()
        .regex(
          /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/,
          'must be a date-time without a zone, such as "2026-01-31T08:00:00"',
        )
        .refine(isRealDateTime, 'must be a day and a time that exist')
        .optional()
        .describe('Start time: date and time in UTC, without a zone, such as 2026-01-31T08:00:00.')
        .meta({ form: 'time', examples: ['2026-01-31T08:00:00'] }),
    })
    .optional()
    .describe('Where in the topic to begin.'),
  schemaRegistry: z
    .strictObject({
      url: Url.optional().describe('URL of the schema registry.'),
      caCertificate: Certificate.optional().describe('CA certificate of the schema registry (PEM).'),
      credentials: UserCredentials.optional().describe('Credentials of the schema registry. Write-only.'),
    })
    .optional()
    .describe('Schema registry.'),
  caCertificate: Certificate.optional().describe('CA certificate of the brokers (PEM).'),
  reversePrivateEndpointIds: TextSet.optional().describe('Ids of reverse private endpoints.'),
  credentials: UserCredentials.optional().describe('Credentials of the brokers. Write-only.'),
})

const ObjectStorageSource = z.strictObject({
  url: Url.optional()
    .describe('URL of the objects, with wildcards if needed.')
    .meta({ identifies: true, examples: ['https://bucket.example/events/*.json'] }),
  delimiter: z.string().optional().describe('Delimiter of the fields in a file.').meta({ form: 'raw' }),
  compression: Text.optional().describe('Compression of the files.'),
  isContinuous: Flag.describe('Whether new files are ingested continuously.'),
  queueUrl: Url.optional()
    .describe('URL of a notification queue.')
    .meta({ examples: ['https://queue.example/new-files'] }),
  iamRole: Text.optional().describe('Role identifier for cloud-role authentication.'),
  connectionString: SensitiveText.optional().describe('Connection string of the storage account.'),
  path: Text.optional()
    .describe('Path inside the container, with wildcards if needed.')
    .meta({ identifies: true }),
  blobContainerName: Text.optional().describe('Name of the blob container.').meta({ identifies: true }),
  accessKey: AccessKey.optional().describe('Access key. Write-only.'),
})

const ManagedStreamSource = z.strictObject({
  streamName: Text.optional().describe('Name of the stream.').meta({ identifies: true }),
  region: Text.optional().describe('Region of the stream.').meta({ identifies: true }),
  useEnhancedFanOut: Flag.describe('Whether to read with enhanced fan-out.'),
  timestamp: Count.optional().describe('Start time: Unix time in seconds.').meta({ form: 'unix-time' }),
  iamRole: Text.optional().describe('Role identifier for cloud-role authentication.'),
  accessKey: AccessKey.optional().describe('Access key. Write-only.'),
})

const PostgresSettings = z.strictObject({
  syncIntervalSeconds: Count.optional().describe('Seconds between two synchronisations.'),
  pullBatchSize: Count.optional().describe('Rows pulled in one batch.'),
  publicationName: Text.optional().describe('Name of the publication.'),
  replicationSlotName: Text.optional().describe('Name of the replication slot.'),
  allowNullableColumns: Flag.describe('Whether nullable columns stay nullable.'),
  initialLoadParallelism: Count.optional().describe('Parallel workers of the initial load.'),
  snapshotNumRowsPerPartition: Count.optional().describe('Rows per partition of the snapshot.'),
  snapshotNumberOfParallelTables: Count.optional().describe('Tables loaded in parallel during the snapshot.'),
  enableFailoverSlots: Flag.describe('Whether the replication slot survives a failover.'),
})

const TableMapping = z.strictObject({
  sourceSchemaName: Text.optional().describe('Schema of the source table.'),
  sourceTable: Text.optional().describe('Source table.'),
  targetTable: Text.optional().describe('Destination table.').meta({ identifies: true }),
  excludedColumns: TextSet.optional().describe('Columns that are left out.'),
  useCustomSortingKey: Flag.describe('Whether `sortingKeys` replace the default sorting key.'),
  sortingKeys: OrderedTexts.optional().describe('Columns of the sorting key, in order.'),
})

const PostgresSource = z.strictObject({
  host: HostName.optional().describe('Host name or address.').meta({ identifies: true }),
  port: z.int().min(1).max(65_535).optional().describe('Port, 1 to 65535.'),
  database: Text.optional().describe('Database.').meta({ identifies: true }),
  settings: PostgresSettings.optional().describe('Replication settings.'),
  tableMappings: z
    .array(TableMapping)
    .optional()
    .describe('Which tables go where.')
    .meta({ keyedBy: ['sourceSchemaName', 'sourceTable'] }),
  credentials: UserCredentials.optional().describe('Credentials of the database. Write-only.'),
})

export const SOURCE_KINDS = ['kafka', 'objectStorage', 'managedStream', 'postgres'] as const

export const PipeSource = z.strictObject({
  validateSamples: Flag.describe('Whether the platform checks samples of the source. Write-only.').meta({
    returned: 'never',
  }),
  kafka: KafkaSource.optional().describe('A Kafka-type topic source.'),
  objectStorage: ObjectStorageSource.optional().describe('An object-storage source.'),
  managedStream: ManagedStreamSource.optional().describe('A managed-stream source.'),
  postgres: PostgresSource.optional().describe('A Postgres source.'),
})
