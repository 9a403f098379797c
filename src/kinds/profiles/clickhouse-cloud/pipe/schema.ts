import { ColumnList, FieldMapping } from '../../../pipe/columns.ts'
import { fieldsIn } from '../../../field-table.ts'
import { DeletablePolicy, manifestSchema, ResourceName } from '../../../manifest.ts'
import { Flag, Lines, OrderedTexts, Text, TextSet, z } from '../../../zod.ts'
import { PipeSource } from './source.ts'

function within(least: number, most: number) {
  return z.int().min(least).max(most).optional()
}

/** For database sources, only `database` and `roles` count, because `tableMappings` define the tables. */
const Destination = z.strictObject({
  database: Text.optional()
    .describe('Database of the destination. Required for database sources. Default: `default`.')
    .meta({ identifies: true }),
  table: Text.optional().describe('Destination table.').meta({ identifies: true }),
  managedTable: Flag.describe('Whether the service creates the destination table.'),
  tableDefinition: z
    .strictObject({
      engine: z
        .strictObject({
          type: z
            .enum(['MergeTree', 'ReplacingMergeTree', 'SummingMergeTree', 'Null'])
            .describe('Table engine.')
            .meta({ form: 'engine' }),
          versionColumnId: Text.optional()
            .describe('For ReplacingMergeTree: the column with the version of a row.')
            .meta({ returned: 'at times' }),
          columnIds: OrderedTexts.optional()
            .describe('For SummingMergeTree: the columns to sum.')
            .meta({ returned: 'at times' }),
        })
        .optional()
        .describe('Table engine.'),
      sortingKey: OrderedTexts.optional().describe(
        'Columns of the sorting key, or SQL expressions without commas, in order.',
      ),
      partitionBy: Lines.optional().describe('Partition expression, in SQL.'),
      primaryKey: Lines.optional()
        .describe(
          'Primary key expression, in SQL. It might have no effect: the service accepted it, but created the table without it.',
        )
        .meta({ returned: 'at times' }),
      ttl: Lines.optional()
        .describe('SQL expression for the time when rows expire (TTL).')
        .meta({ returned: 'at times' }),
    })
    .optional()
    .describe('Definition of a table that the service creates.'),
  columns: ColumnList.meta({ change: 'update' }),
  roles: TextSet.optional()
    .describe('Database roles of the pipe. Write-only.')
    .meta({ returned: 'never', default: ['default_role'] }),
})

/** For a while after a change, replies can omit a size or show 0. */
const Scaling = z.strictObject({
  replicas: within(1, 40).describe('Number of replicas, 1 to 40.').meta({ returned: 'at times' }),
  concurrency: within(0, 34)
    .describe('Files that one replica reads in parallel, 0 to 34. 0: automatic. Deprecated.')
    .meta({ returned: 'at times' }),
  replicaCpuMillicores: within(125, 2_000)
    .describe('CPU of one replica, in millicores: 125 to 2000.')
    .meta({ form: 'millicores', returned: 'at times' }),
  replicaMemoryGb: z
    .number()
    .min(0.5)
    .max(8)
    .optional()
    .describe('Memory of one replica, in gibibytes: 0.5 to 8.')
    .meta({ form: 'gibibytes', returned: 'at times' }),
})

const MIB = 1_048_576
const GIB = 1_073_741_824

/** In these fields, `0` and `false` count as set values. */
const Settings = z.strictObject({
  streaming_max_insert_wait_ms: within(500, 60_000).describe(
    'Longest wait before an insert, in milliseconds: 500 to 60000.',
  ),
  object_storage_concurrency: within(1, 35).describe('Files that are read in parallel, 1 to 35.'),
  object_storage_polling_interval_ms: within(100, 3_600_000).describe(
    'Time between two searches for new files, in milliseconds: 100 to 3600000.',
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
  kafka_read_committed: Flag.describe('Whether only committed messages are read. Only for Kafka.'),
  object_storage_use_cluster_function: Flag.describe('Whether files are read by the whole cluster.'),
  clickhouse_parallel_view_processing: Flag.describe('Whether views are processed in parallel.'),
})

export const PipeSpec = z.strictObject({
  service: ResourceName.describe('Name of the Service manifest of the pipe.'),
  name: Text.max(255)
    .optional()
    .describe('Name of the pipe in the service, 1 to 255 characters. Default: `metadata.name`.')
    .meta({ change: 'update' }),
  source: PipeSource.describe('Where the data comes from: exactly one source kind.'),
  destination: Destination.describe('Where the data goes.'),
  fieldMappings: z
    .array(FieldMapping)
    .optional()
    .describe('Maps source fields to destination columns. Each column needs a field. Not for databases.')
    .meta({ keyedBy: ['destinationField'], change: 'update' }),
  scaling: Scaling.optional().describe('Size of the pipe. Not for databases.').meta({ change: 'scale' }),
  settings: Settings.optional()
    .describe('Tuning of the pipe. Not for databases.')
    .meta({ change: 'configure' }),
})
export type PipeSpec = z.infer<typeof PipeSpec>

export const PipeManifest = manifestSchema('Pipe', DeletablePolicy, PipeSpec)
export type PipeManifest = z.infer<typeof PipeManifest>

export const PIPE_FIELDS = fieldsIn(PipeSpec.omit({ service: true }), 'flag')
