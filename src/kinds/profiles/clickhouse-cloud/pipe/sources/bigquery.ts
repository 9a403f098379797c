import type { FieldsOf } from '../../../../field-table.ts'
import { SecretRef } from '../../../../secret-ref.ts'
import { Text, z } from '../../../../zod.ts'
import { COLUMNS_FIELDS, TARGET_FIELDS, columnsShape, targetShape } from './database.ts'

const MoreThanZero = z.number().positive()

/** Facts 4.9. */
export const BigquerySource = z.strictObject({
  snapshotStagingPath: z
    .string()
    .regex(/^gs:\/\/[^\s/]+\/(?:\S*\/)?$/, 'must be a folder of a bucket, such as "gs://bucket/path/"')
    .describe('Folder for what is on its way: gs://BUCKET/PATH/.')
    .meta({ examples: ['gs://staging.example/pipes/'] }),
  settings: z
    .strictObject({
      replicationMode: z.enum(['snapshot']).describe('What is copied. snapshot: what is there, once.'),
      allowNullableColumns: z.boolean().optional().describe('Whether nullable columns stay nullable.'),
      initialLoadParallelism: MoreThanZero.optional().describe('Parallel workers of the load.'),
      snapshotNumRowsPerPartition: MoreThanZero.optional().describe('Rows in a partition of the snapshot.'),
      snapshotNumberOfParallelTables: MoreThanZero.optional().describe('Tables loaded in parallel.'),
    })
    .describe('Replication settings.'),
  tableMappings: z
    .array(
      z.strictObject({
        sourceDatasetName: Text.describe('Dataset of the source table.'),
        sourceTable: Text.describe('Source table.'),
        ...targetShape,
        ...columnsShape,
      }),
    )
    .describe('Which tables go where.'),
  credentials: z
    .strictObject({
      serviceAccountFile: SecretRef.describe('Key of the service account: its JSON in base64.'),
    })
    .describe('Key of the service account. Request only.'),
})
export type BigquerySource = z.infer<typeof BigquerySource>

export const BIGQUERY_FIELDS = {
  snapshotStagingPath: 'text',
  settings: {
    fields: {
      replicationMode: 'text',
      allowNullableColumns: 'flag',
      initialLoadParallelism: 'number',
      snapshotNumRowsPerPartition: 'number',
      snapshotNumberOfParallelTables: 'number',
    },
  },
  tableMappings: {
    keyedBy: ['sourceDatasetName', 'sourceTable'],
    fields: { sourceDatasetName: 'text', sourceTable: 'text', ...TARGET_FIELDS, ...COLUMNS_FIELDS },
  },
  credentials: { requestOnly: { fields: { serviceAccountFile: 'text' } } },
} as const satisfies FieldsOf<BigquerySource>
