import { deriveForms } from '../../../../field-table.ts'
import { CREDENTIALS_FIELDS } from '../../../../secret-ref.ts'
import { Text, z } from '../../../../zod.ts'
import type { FieldRules } from '../field-rules.ts'
import {
  COLUMNS_FIELDS,
  TARGET_FIELDS,
  TLS_RULES,
  columnsShape,
  connectionShape,
  loadShape,
  partitionShape,
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
    .describe('Kind of Postgres. Default: postgres.'),
  ...connectionShape,
  ...tlsShape,
  database: Text.describe('Database.'),
  settings: z
    .strictObject({
      ...syncShape,
      ...loadShape,
      publicationName: Text.optional().describe('Name of the publication. Default: a new one.'),
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
        ...partitionShape,
      }),
    )
    .describe('Which tables go where.'),
})
export type PostgresSource = z.infer<typeof PostgresSource>

const { settings, tableMappings } = PostgresSource.shape

export const POSTGRES_FIELDS = deriveForms(PostgresSource.shape, {
  credentials: CREDENTIALS_FIELDS,
  caCertificate: 'certificate',
  settings: {
    fields: deriveForms(settings.shape, {
      enableFailoverSlots: { whenReturned: 'flag' },
      deleteOnMerge: { whenReturned: 'flag' },
    }),
  },
  tableMappings: {
    keyedBy: ['sourceSchemaName', 'sourceTable'],
    fields: deriveForms(tableMappings.element.shape, { ...TARGET_FIELDS, ...COLUMNS_FIELDS }),
  },
})

export const postgresRules: FieldRules<PostgresSource> = (source) => {
  const { replicationMode, replicationSlotName } = source.settings
  return [
    signInRules(source),
    TLS_RULES,
    // R28. Unknown: whether cdc_only needs one.
    replicationMode === 'cdc_only'
      ? []
      : [{ excludes: ['settings.replicationSlotName'], because: `with replicationMode ${replicationMode}` }],
    // R30
    replicationSlotName === undefined || source.settings.enableFailoverSlots !== true
      ? []
      : [{ excludes: ['settings.enableFailoverSlots'], because: 'with replicationSlotName' }],
  ]
}
