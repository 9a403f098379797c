import type { FieldsOf } from '../../../field-table.ts'
import { API_VERSION, DeletablePolicy, Metadata, ResourceName } from '../../../manifest.ts'
import { ShownText, Text, z } from '../../../zod.ts'
import { PipeSource, SOURCE_FIELDS } from './source.ts'

/** A whole number within bounds, both included. */
function within(least: number, most: number) {
  return z.int().min(least).max(most).optional()
}

/** Facts 4.10. Of databases only `database` and `roles`: their tables are made from `tableMappings`. */
const Destination = z.strictObject({
  database: Text.optional().describe(
    'Database of the destination; `default` unless set. Needed for databases.',
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
      sortingKey: z.array(Text).optional().describe('Columns of the sorting key, in order.'),
      partitionBy: Text.optional().describe('Partition expression, in SQL.'),
      primaryKey: Text.optional().describe(
        'Primary key expression, in SQL. The service was seen to take one and to leave it out of the table.',
      ),
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
    .describe('Database roles that the pipe gets; `default_role` unless set. Request only.'),
})

const FieldMapping = z.strictObject({
  sourceField: Text.describe('Field of the source.'),
  destinationField: Text.describe('Column of the destination.'),
})

/** Facts 4.11. */
const Scaling = z.strictObject({
  replicas: within(1, 40).describe('Number of replicas, 1 to 40.'),
  concurrency: within(0, 34).describe(
    'Files that one replica reads at once, 0 to 34; 0 is automatic. Deprecated.',
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

/** Facts 4.11. `0` and `false` are values, and are kept. */
const Settings = z.strictObject({
  streaming_max_insert_wait_ms: within(500, 60_000).describe(
    'Longest wait before an insert, in milliseconds: 500 to 60000.',
  ),
  object_storage_concurrency: within(1, 35).describe('Files read at once, 1 to 35.'),
  object_storage_polling_interval_ms: within(100, 3_600_000).describe(
    'Time between two looks for new files, in milliseconds: 100 to 3600000.',
  ),
  object_storage_max_insert_bytes: within(10 * MIB, 50 * GIB).describe(
    'Largest insert, in bytes: 10485760 (10 MiB) to 53687091200 (50 GiB).',
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
  object_storage_use_cluster_function: z
    .boolean()
    .optional()
    .describe('Whether files are read by the whole cluster.'),
  clickhouse_parallel_view_processing: z
    .boolean()
    .optional()
    .describe('Whether views are processed in parallel.'),
})

/** The body of a create (facts 3.1), with references where secrets belong, plus `service`. */
export const PipeSpec = z.strictObject({
  service: ResourceName.describe('Name of the Service manifest to which the pipe belongs.'),
  name: ShownText.max(255)
    .optional()
    .describe('Name of the pipe there, 1 to 255 characters; `metadata.name` unless set.'),
  source: PipeSource.describe('Where the data comes from: exactly one source kind.'),
  destination: Destination.describe('Where the data goes.'),
  fieldMappings: z
    .array(FieldMapping)
    .optional()
    .describe('Which field goes to which column; all destination columns are covered. Not for databases.'),
  scaling: Scaling.optional().describe('Size of the pipe. Not for databases.'),
  settings: Settings.optional().describe('Tuning of the pipe. Not for databases.'),
})
export type PipeSpec = z.infer<typeof PipeSpec>

/** A manifest of a ClickPipe. */
export const PipeManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Pipe'),
  metadata: Metadata,
  policy: DeletablePolicy.optional(),
  spec: PipeSpec,
})
export type PipeManifest = z.infer<typeof PipeManifest>

/** Every field of a pipe: how it is compared, and whether the service returns it. */
export const PIPE_FIELDS = {
  name: 'text',
  source: { fields: SOURCE_FIELDS },
  destination: {
    fields: {
      database: 'text',
      table: 'text',
      managedTable: 'flag',
      tableDefinition: {
        fields: {
          engine: {
            fields: {
              type: 'engine',
              versionColumnId: { whenReturned: 'text' },
              columnIds: { whenReturned: 'ordered' },
            },
          },
          sortingKey: 'ordered',
          partitionBy: 'text',
          primaryKey: { whenReturned: 'text' },
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
      // Seen to come as 0, or not at all, for a while after it was set.
      replicas: { whenReturned: 'number' },
      concurrency: { whenReturned: 'number' },
      replicaCpuMillicores: { whenReturned: 'millicores' },
      replicaMemoryGb: { whenReturned: 'gibibytes' },
    },
  },
  settings: {
    fields: {
      streaming_max_insert_wait_ms: 'number',
      object_storage_concurrency: 'number',
      object_storage_polling_interval_ms: 'number',
      object_storage_max_insert_bytes: 'number',
      object_storage_max_file_count: 'number',
      clickhouse_max_threads: 'number',
      clickhouse_max_insert_threads: 'number',
      clickhouse_min_insert_block_size_bytes: 'number',
      clickhouse_max_download_threads: 'number',
      clickhouse_parallel_distributed_insert_select: 'number',
      object_storage_use_cluster_function: 'flag',
      clickhouse_parallel_view_processing: 'flag',
    },
  },
} as const satisfies FieldsOf<Omit<PipeSpec, 'service'>>
