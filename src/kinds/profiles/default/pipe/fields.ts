import type { FieldsOf } from '../../../field-table.ts'
import type { PipeSpec } from './schema.ts'

type Body = Omit<PipeSpec, 'service'>

const credentials = { requestOnly: { fields: { username: 'text', password: 'text' } } } as const

const accessKey = { requestOnly: { fields: { accessKeyId: 'text', secretKey: 'text' } } } as const

/** Every field of `spec/api.md` 2.2–2.6: how it is compared, and whether the platform returns it. */
export const PIPE_FIELDS = {
  name: 'text',
  source: {
    fields: {
      validateSamples: { requestOnly: 'boolean' },
      kafka: {
        fields: {
          brokers: 'comma-list',
          topics: 'comma-list',
          consumerGroup: 'text',
          iamRole: 'text',
          offset: { fields: { timestamp: 'time' } },
          schemaRegistry: { fields: { url: 'text', caCertificate: 'certificate', credentials } },
          caCertificate: 'certificate',
          reversePrivateEndpointIds: 'set',
          credentials,
        },
      },
      objectStorage: {
        fields: {
          url: 'text',
          delimiter: 'text',
          compression: 'text',
          isContinuous: 'boolean',
          queueUrl: 'text',
          iamRole: 'text',
          connectionString: 'text',
          path: 'text',
          blobContainerName: 'text',
          accessKey,
        },
      },
      managedStream: {
        fields: {
          streamName: 'text',
          region: 'text',
          useEnhancedFanOut: 'boolean',
          timestamp: 'unix-time',
          iamRole: 'text',
          accessKey,
        },
      },
      postgres: {
        fields: {
          host: 'text',
          port: 'number',
          database: 'text',
          settings: {
            fields: {
              syncIntervalSeconds: 'number',
              pullBatchSize: 'number',
              publicationName: 'text',
              replicationSlotName: 'text',
              allowNullableColumns: 'boolean',
              initialLoadParallelism: 'number',
              snapshotNumRowsPerPartition: 'number',
              snapshotNumberOfParallelTables: 'number',
              enableFailoverSlots: 'boolean',
            },
          },
          tableMappings: {
            keyedBy: ['sourceSchemaName', 'sourceTable'],
            fields: {
              sourceSchemaName: 'text',
              sourceTable: 'text',
              targetTable: 'text',
              excludedColumns: 'set',
              useCustomSortingKey: 'boolean',
              sortingKeys: 'ordered',
            },
          },
          credentials,
        },
      },
    },
  },
  destination: {
    fields: {
      database: 'text',
      table: 'text',
      managedTable: 'boolean',
      tableDefinition: {
        fields: {
          engine: { fields: { versionColumnId: 'text', columnIds: 'ordered' } },
          sortingKey: 'ordered',
          partitionBy: 'text',
          primaryKey: 'text',
        },
      },
      columns: { keyedBy: ['name'], fields: { name: 'text', type: 'text' } },
      roles: { requestOnly: 'set' },
    },
  },
  fieldMappings: {
    keyedBy: ['destinationField'],
    fields: { sourceField: 'text', destinationField: 'text' },
  },
  scaling: {
    fields: {
      replicas: 'number',
      concurrency: 'number',
      replicaCpuMillicores: 'number',
      replicaMemoryGb: 'number',
    },
  },
  settings: {
    fields: {
      streaming_max_insert_wait_ms: 'number',
      object_storage_concurrency: 'number',
      object_storage_polling_interval_ms: 'number',
      object_storage_max_insert_bytes: 'number',
      object_storage_max_file_count: 'number',
      db_max_threads: 'number',
      db_max_insert_threads: 'number',
      db_min_insert_block_size_bytes: 'number',
      db_max_download_threads: 'number',
      db_parallel_distributed_insert_select: 'number',
      object_storage_use_cluster_function: 'boolean',
      db_parallel_view_processing: 'boolean',
    },
  },
} as const satisfies FieldsOf<Body>
