import { Flag, Text, z } from '../../../../zod.ts'
import type { FieldRules } from '../field-rules.ts'
import { TLS_RULES, connectionShape, loadShape, signInRules, tableMappings, tlsShape } from './database.ts'

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
    .describe('Kind of Postgres.')
    .meta({ default: 'postgres' }),
  ...connectionShape,
  ...tlsShape,
  database: Text.describe('Database.').meta({ identifies: true, change: 'connection' }),
  settings: z
    .strictObject({
      ...loadShape,
      publicationName: Text.optional().describe('Name of the publication. Default: a new one.'),
      replicationSlotName: Text.optional().describe('Name of the replication slot, for cdc_only.'),
      enableFailoverSlots: Flag.describe(
        'Whether the replication slot survives a failover. Needs Postgres 17 or newer.',
      ).meta({ returned: 'at times' }),
    })
    .describe('Replication settings.'),
  tableMappings: tableMappings('Schema of the source table.'),
})
export type PostgresSource = z.infer<typeof PostgresSource>

export const postgresRules: FieldRules<PostgresSource> = (source) => {
  const { replicationMode, replicationSlotName } = source.settings
  return [
    signInRules(source),
    TLS_RULES,
    // A slot can be named only with cdc_only. Whether a name is then required is not documented.
    replicationMode === 'cdc_only'
      ? []
      : [{ excludes: ['settings.replicationSlotName'], because: `with replicationMode ${replicationMode}` }],
    replicationSlotName === undefined || source.settings.enableFailoverSlots !== true
      ? []
      : [{ excludes: ['settings.enableFailoverSlots'], because: 'with replicationSlotName' }],
  ]
}
