import { ColumnList, FieldMapping } from '../../../pipe/columns.ts'
import { fieldsIn } from '../../../field-table.ts'
import { Count, Flag, Lines, OrderedTexts, Text, TextSet, z } from '../../../zod.ts'
import { manifestSchema, ResourceName, CreateOncePolicy } from '../../../manifest.ts'
import { PipeSource } from './source-schema.ts'

const Destination = z.strictObject({
  database: Text.optional().describe('Destination database.').meta({ identifies: true }),
  table: Text.optional().describe('Destination table.').meta({ identifies: true }),
  managedTable: Flag.describe('Whether the platform makes and owns the table.'),
  tableDefinition: z
    .strictObject({
      engine: z
        .strictObject({
          versionColumnId: Text.optional().describe('Column that holds the version of a row.'),
          columnIds: OrderedTexts.optional().describe('Columns that the table engine uses, in order.'),
        })
        .optional()
        .describe('Table engine.'),
      sortingKey: OrderedTexts.optional().describe('Columns of the sorting key, in order.'),
      partitionBy: Lines.optional().describe('Partition expression.'),
      primaryKey: Lines.optional().describe('Primary key expression.'),
    })
    .optional()
    .describe('Definition of a managed table.'),
  columns: ColumnList,
  roles: TextSet.optional().describe('Database roles of the pipe. Write-only.').meta({ returned: 'never' }),
})

const Scaling = z.strictObject({
  replicas: Count.optional().describe('Number of replicas.'),
  concurrency: Count.optional().describe('Concurrency of one replica.'),
  replicaCpuMillicores: Count.optional().describe('CPU of one replica, in millicores.'),
  replicaMemoryGb: z
    .number()
    .nonnegative()
    .optional()
    .describe('Memory of one replica, in gigabytes (decimal).'),
})

const Settings = z.strictObject({
  streaming_max_insert_wait_ms: Count.optional().describe('Longest wait before an insert, in milliseconds.'),
  object_storage_concurrency: Count.optional().describe('Files that are read in parallel.'),
  object_storage_polling_interval_ms: Count.optional().describe(
    'Time between two searches for new files, in milliseconds.',
  ),
  object_storage_max_insert_bytes: Count.optional().describe('Largest insert, in bytes.'),
  object_storage_max_file_count: Count.optional().describe('Most files in one insert.'),
  db_max_threads: Count.optional().describe('Most threads of a query.'),
  db_max_insert_threads: Count.optional().describe('Most threads of an insert.'),
  db_min_insert_block_size_bytes: Count.optional().describe('Smallest block of an insert, in bytes.'),
  db_max_download_threads: Count.optional().describe('Most threads of a download.'),
  db_parallel_distributed_insert_select: Count.optional().describe(
    'How distributed INSERT SELECT runs in parallel.',
  ),
  object_storage_use_cluster_function: Flag.describe('Whether files are read by the whole cluster.'),
  db_parallel_view_processing: Flag.describe('Whether views are processed in parallel.'),
})

export const PipeSpec = z.strictObject({
  service: ResourceName.describe('Name of the Service manifest of the pipe.'),
  name: Text.max(255).optional().describe('Name of the pipe on the platform. Default: `metadata.name`.'),
  source: PipeSource.describe('Where the data comes from: exactly one source kind.'),
  destination: Destination.optional().describe('Where the data goes.'),
  fieldMappings: z
    .array(FieldMapping)
    .optional()
    .describe('Maps source fields to destination columns. Each column needs a field.')
    .meta({ keyedBy: ['destinationField'] }),
  scaling: Scaling.optional().describe('Size of the pipe.'),
  settings: Settings.optional().describe('Tuning of the pipe.'),
})
export type PipeSpec = z.infer<typeof PipeSpec>

export const PipeManifest = manifestSchema('Pipe', CreateOncePolicy, PipeSpec)
export type PipeManifest = z.infer<typeof PipeManifest>

export const PIPE_FIELDS = fieldsIn(PipeSpec.omit({ service: true }))
