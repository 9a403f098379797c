import { ServiceAccountKey } from './pubsub.ts'
import { Flag, Text, z } from '../../../../zod.ts'
import { signsInWith, type FieldRules } from '../field-rules.ts'
import { columnsShape, targetShape } from './database.ts'

const MoreThanZero = z.number().positive()

export const BigquerySource = z.strictObject({
  snapshotStagingPath: z
    .string()
    .regex(/^gs:\/\/[^\s/]+\/(?:\S*\/)?$/, 'must be a folder of a bucket, such as "gs://bucket/path/"')
    .describe('Staging folder, for data on the way to the destination: gs://BUCKET/PATH/.')
    .meta({ examples: ['gs://staging.example/pipes/'] }),
  settings: z
    .strictObject({
      replicationMode: z
        .enum(['snapshot'])
        .describe('Which data is copied. snapshot: the existing rows, once.'),
      allowNullableColumns: Flag.describe('Whether nullable columns stay nullable.'),
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
    .describe('Which tables go where.')
    .meta({ keyedBy: ['sourceDatasetName', 'sourceTable'] }),
  authentication: z
    .enum(['SERVICE_ACCOUNT', 'SERVICE_ACCOUNT_WORKLOAD_IDENTITY'])
    .optional()
    .describe('How the pipe signs in. Default: SERVICE_ACCOUNT.'),
  projectId: Text.optional().describe('Id of the project. Required for SERVICE_ACCOUNT_WORKLOAD_IDENTITY.'),
  credentials: ServiceAccountKey,
})
export type BigquerySource = z.infer<typeof BigquerySource>

export const bigqueryRules: FieldRules<BigquerySource> = ({ authentication = 'SERVICE_ACCOUNT' }) => {
  const because = signsInWith(authentication)
  return authentication === 'SERVICE_ACCOUNT'
    ? [{ needs: ['credentials'], because }]
    : [
        { needs: ['projectId'], because },
        { excludes: ['credentials'], because },
      ]
}
