import { deriveForms } from '../../../field-table.ts'
import { API_VERSION, DeletablePolicy, Metadata, ResourceName } from '../../../manifest.ts'
import { Text, z } from '../../../zod.ts'
import { PipeSource, SOURCE_FIELDS } from './source.ts'

/** Bounds included. */
function within(least: number, most: number) {
  return z.int().min(least).max(most).optional()
}

/** Facts 4.10. Databases use only `database` and `roles`; `tableMappings` define their tables. */
const Destination = z.strictObject({
  database: Text.optional().describe(
    'Database of the destination. Required for database sources. Default: `default`.',
  ),
  table: Text.optional().describe('Destination table.'),
  managedTable: z.boolean().optional().describe('Whether the service makes the table.'),
  tableDefinition: z
    .strictObject({
      engine: z
        .strictObject({
          type: z
            .enum(['MergeTree', 'ReplacingMergeTree', 'SummingMergeTree', 'Null'])
            .describe('Table engine.'),
          versionColumnId: Text.optional().describe(
            'Column with the version of a row, of ReplacingMergeTree.',
          ),
          columnIds: z.array(Text).optional().describe('Columns that are summed, of SummingMergeTree.'),
        })
        .optional()
        .describe('Table engine.'),
      sortingKey: z
        .array(Text)
        .optional()
        .describe('Columns of the sorting key, or SQL expressions without commas, in order.'),
      partitionBy: Text.optional().describe('Partition expression, in SQL.'),
      primaryKey: Text.optional().describe(
        'Primary key expression, in SQL. The service was seen to take one and to leave it out of the table.',
      ),
      ttl: Text.optional().describe('Expression after which rows expire, in SQL.'),
    })
    .optional()
    .describe('Definition of a table that the service makes.'),
  columns: z
    .array(
      z.strictObject({
        name: Text.describe('Name of the column.'),
        type: Text.describe('Type of the column.'),
      }),
    )
    .optional()
    .describe('Columns of the destination table.'),
  roles: z
    .array(Text)
    .optional()
    .describe('Database roles of the pipe. Request only. Default: `default_role`.'),
})

const FieldMapping = z.strictObject({
  sourceField: Text.describe('Field of the source.'),
  destinationField: Text.describe('Column of the destination.'),
})

/** Facts 4.11. */
const Scaling = z.strictObject({
  replicas: within(1, 40).describe('Number of replicas, 1 to 40.'),
  concurrency: within(0, 34).describe(
    'Files that a replica reads together, 0 to 34; 0 is automatic. Deprecated.',
  ),
  replicaCpuMillicores: within(125, 2_000).describe('CPU of one replica, in millicores: 125 to 2000.'),
  replicaMemoryGb: z
    .number()
    .min(0.5)
    .max(8)
    .optional()
    .describe('Memory of one replica, in gibibytes: 0.5 to 8.'),
})

const MIB = 1_048_576
const GIB = 1_073_741_824

/** Facts 4.11. `0` and `false` are set values. */
const Settings = z.strictObject({
  streaming_max_insert_wait_ms: within(500, 60_000).describe(
    'Longest wait before an insert, in milliseconds: 500 to 60000.',
  ),
  object_storage_concurrency: within(1, 35).describe('Files read together, 1 to 35.'),
  object_storage_polling_interval_ms: within(100, 3_600_000).describe(
    'Time between two looks for new files, in milliseconds: 100 to 3600000.',
  ),
  object_storage_max_insert_bytes: within(500 * MIB, 10 * GIB).describe(
    'Largest insert, in bytes: 524288000 (500 MiB) to 10737418240 (10 GiB).',
  ),
  object_storage_max_file_count: within(1, 10_000).describe('Most files in one insert, 1 to 10000.'),
  clickhouse_max_threads: within(0, 64).describe('Most threads of a query, 0 to 64.'),
  clickhouse_max_insert_threads: within(0, 16).describe('Most threads of an insert, 0 to 16.'),
  clickhouse_min_insert_block_size_bytes: within(0, 10 * GIB).describe(
    'Smallest block of an insert, in bytes: 0 to 10737418240 (10 GiB).',
  ),
  clickhouse_max_download_threads: within(0, 32).describe('Most threads of a download, 0 to 32.'),
  clickhouse_parallel_distributed_insert_select: within(0, 2).describe(
    'How distributed INSERT SELECT runs in parallel, 0 to 2.',
  ),
  kafka_read_committed: z
    .boolean()
    .optional()
    .describe('Whether only committed messages are read. Only for Kafka.'),
  object_storage_use_cluster_function: z
    .boolean()
    .optional()
    .describe('Whether files are read by the whole cluster.'),
  clickhouse_parallel_view_processing: z
    .boolean()
    .optional()
    .describe('Whether views are processed in parallel.'),
})

/** The body of a create (facts 3.1), plus `service`. */
export const PipeSpec = z.strictObject({
  service: ResourceName.describe('Name of the Service manifest of the pipe.'),
  name: Text.max(255)
    .optional()
    .describe('Name of the pipe in the service, 1 to 255 characters. Default: `metadata.name`.'),
  source: PipeSource.describe('Where the data comes from: exactly one source kind.'),
  destination: Destination.describe('Where the data goes.'),
  fieldMappings: z
    .array(FieldMapping)
    .optional()
    .describe('The column of each field. All destination columns must have a field. Not for databases.'),
  scaling: Scaling.optional().describe('Size of the pipe. Not for databases.'),
  settings: Settings.optional().describe('Tuning of the pipe. Not for databases.'),
})
export type PipeSpec = z.infer<typeof PipeSpec>

export const PipeManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Pipe'),
  metadata: Metadata,
  policy: DeletablePolicy.optional(),
  spec: PipeSpec,
})
export type PipeManifest = z.infer<typeof PipeManifest>

/** Comparison forms. */
export const PIPE_FIELDS = deriveForms(PipeSpec.omit({ service: true }).shape, {
  source: { fields: SOURCE_FIELDS },
  destination: {
    fields: deriveForms(Destination.shape, {
      tableDefinition: {
        fields: deriveForms(Destination.shape.tableDefinition.unwrap().shape, {
          engine: {
            fields: {
              type: 'engine',
              versionColumnId: { whenReturned: 'text' },
              columnIds: { whenReturned: 'ordered' },
            },
          },
          sortingKey: 'ordered',
          partitionBy: 'lines',
          primaryKey: { whenReturned: 'lines' },
          ttl: { whenReturned: 'lines' },
        }),
      },
      columns: { keyedBy: ['name'], fields: { name: 'text', type: 'block' } },
      roles: { requestOnly: 'set' },
    }),
  },
  fieldMappings: {
    keyedBy: ['destinationField'],
    fields: { sourceField: 'foreign', destinationField: 'text' },
  },
  scaling: {
    fields: {
      // Can be 0 or absent for a while after a change.
      replicas: { whenReturned: 'number' },
      concurrency: { whenReturned: 'number' },
      replicaCpuMillicores: { whenReturned: 'millicores' },
      replicaMemoryGb: { whenReturned: 'gibibytes' },
    },
  },
})
