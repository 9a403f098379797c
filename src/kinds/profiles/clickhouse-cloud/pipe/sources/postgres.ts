import type { FieldsOf } from '../../../../field-table.ts'
import { Text, z } from '../../../../zod.ts'
import type { FieldRules } from '../field-rules.ts'
import {
  COLUMNS_FIELDS,
  CONNECTION_FIELDS,
  LOAD_FIELDS,
  PartitionKey,
  SYNC_FIELDS,
  TARGET_FIELDS,
  TLS_FIELDS,
  TLS_RULES,
  columnsShape,
  connectionShape,
  loadShape,
  signInRules,
  syncShape,
  targetShape,
  tlsShape,
} from './database.ts'

/** Facts 4.6. */
export const PostgresSource = z.strictObject({
  type: z
    .enum([
      'postgres',
      'supabase',
      'neon',
      'alloydb',
      'planetscale',
      'rdspostgres',
      'aurorapostgres',
      'cloudsqlpostgres',
      'azurepostgres',
      'crunchybridge',
      'tigerdata',
    ])
    .optional()
    .describe('Which kind of Postgres it is; postgres unless set.'),
  ...connectionShape,
  ...tlsShape,
  database: Text.describe('Database.'),
  settings: z
    .strictObject({
      ...syncShape,
      ...loadShape,
      publicationName: Text.optional().describe('Name of the publication; one is made unless set.'),
      replicationSlotName: Text.optional().describe('Name of the replication slot, for cdc_only.'),
      enableFailoverSlots: z
        .boolean()
        .optional()
        .describe('Whether the replication slot survives a failover: from Postgres 17 on.'),
    })
    .describe('Replication settings.'),
  tableMappings: z
    .array(
      z.strictObject({
        sourceSchemaName: Text.describe('Schema of the source table.'),
        sourceTable: Text.describe('Source table.'),
        ...targetShape,
        ...columnsShape,
        partitionKey: PartitionKey,
        partitionByExpr: Text.optional().describe('Partition expression of the destination table, in SQL.'),
      }),
    )
    .describe('Which tables go where.'),
})
export type PostgresSource = z.infer<typeof PostgresSource>

export const POSTGRES_FIELDS = {
  type: 'text',
  ...CONNECTION_FIELDS,
  ...TLS_FIELDS,
  database: 'text',
  settings: {
    fields: {
      ...SYNC_FIELDS,
      ...LOAD_FIELDS,
      publicationName: 'text',
      replicationSlotName: 'text',
      enableFailoverSlots: { whenReturned: 'flag' },
      deleteOnMerge: { whenReturned: 'flag' },
    },
  },
  tableMappings: {
    keyedBy: ['sourceSchemaName', 'sourceTable'],
    fields: {
      sourceSchemaName: 'text',
      sourceTable: 'text',
      ...TARGET_FIELDS,
      ...COLUMNS_FIELDS,
      partitionKey: 'text',
      partitionByExpr: 'text',
    },
  },
} as const satisfies FieldsOf<PostgresSource>

export const postgresRules: FieldRules<PostgresSource> = (source) => {
  const { replicationMode, replicationSlotName } = source.settings
  return [
    signInRules(source),
    TLS_RULES,
    // R28. Whether cdc_only needs one, nobody knows.
    replicationMode === 'cdc_only'
      ? []
      : [{ excludes: ['settings.replicationSlotName'], because: `with replicationMode ${replicationMode}` }],
    // R30
    replicationSlotName === undefined || source.settings.enableFailoverSlots !== true
      ? []
      : [{ excludes: ['settings.enableFailoverSlots'], because: 'with replicationSlotName' }],
  ]
}
