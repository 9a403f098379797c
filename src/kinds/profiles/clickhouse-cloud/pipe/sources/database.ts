import { Certificate, SecretRef, SensitiveText } from '../../../../secret-ref.ts'
import { Flag, HostName, Lines, OrderedTexts, Text, TextSet, z } from '../../../../zod.ts'
import { pemRules, ROLE_RULE, signsInWith, type FieldRule } from '../field-rules.ts'

const Positive = z.int().min(1)

export const connectionShape = {
  credentials: z
    .strictObject({
      username: SensitiveText.describe('User name.'),
      password: SecretRef.optional().describe('Password, for basic.'),
    })
    .describe('Credentials of the database. Write-only.')
    .meta({ returned: 'never', change: 'connection' }),
  host: HostName.describe('Host name or address.').meta({ identifies: true, change: 'connection' }),
  port: z.int().min(1).max(65_535).describe('Port, 1 to 65535.').meta({ change: 'connection' }),
  authentication: z
    .enum(['basic', 'IAM_ROLE'])
    .optional()
    .describe('Authentication, case-sensitive.')
    .meta({ default: 'basic' }),
  iamRole: Text.optional().describe('ARN of the role, for IAM_ROLE.'),
}

export const tlsShape = {
  tlsHost: Text.optional()
    .describe('Name in the certificate of the server, if it differs from the host name.')
    .meta({ change: 'connection' }),
  caCertificate: Certificate.optional()
    .describe('CA certificate of the server (PEM).')
    .meta({ change: 'connection' }),
  disableTls: Flag.describe('Whether to connect without TLS.').meta({ change: 'connection' }),
  skipCertVerification: Flag.describe('Whether the certificate of the server is not checked.').meta({
    change: 'connection',
  }),
}

export const syncShape = {
  syncIntervalSeconds: Positive.optional()
    .describe('Seconds between two synchronisations.')
    .meta({ change: 'update' }),
  pullBatchSize: Positive.optional().describe('Rows pulled in one batch.').meta({ change: 'update' }),
  replicationMode: z
    .enum(['cdc', 'snapshot', 'cdc_only'])
    .describe(
      'Which data is copied. cdc: the existing rows, then their changes. snapshot: the existing rows, once. cdc_only: only changes.',
    ),
  snapshotNumRowsPerPartition: z
    .int()
    .min(1_000)
    .optional()
    .describe('Rows in a partition of the snapshot, 1000 or more.'),
  snapshotNumberOfParallelTables: Positive.optional().describe(
    'Tables loaded in parallel during the snapshot.',
  ),
  deleteOnMerge: Flag.describe('Whether deleted rows are removed when parts are merged.'),
}

export const loadShape = {
  ...syncShape,
  deleteOnMerge: syncShape.deleteOnMerge.meta({ returned: 'at times' }),
  allowNullableColumns: Flag.describe('Whether nullable columns stay nullable.'),
  initialLoadParallelism: Positive.optional().describe('Parallel workers of the initial load.'),
}

export const targetShape = {
  targetTable: Text.describe('Destination table. Each table mapping of a pipe needs its own.').meta({
    identifies: true,
  }),
  tableEngine: z
    .enum(['MergeTree', 'ReplacingMergeTree', 'Null'])
    .optional()
    .describe('Engine of the destination table.')
    .meta({ returned: 'at times' }),
}

export const columnsShape = {
  excludedColumns: TextSet.optional().describe('Columns that are left out.'),
  useCustomSortingKey: Flag.describe('Whether sortingKeys replace the default sorting key.'),
  sortingKeys: OrderedTexts.optional().describe('Columns of the sorting key, in order.'),
}

export function tableMappings(schema: string) {
  return z
    .array(
      z.strictObject({
        sourceSchemaName: Text.describe(schema),
        sourceTable: Text.describe('Source table.'),
        ...targetShape,
        ...columnsShape,
        partitionKey: Text.optional().describe('Column by which the initial load is split into parts.'),
        partitionByExpr: Lines.optional().describe('Partition expression of the destination table, in SQL.'),
      }),
    )
    .describe('Which tables go where.')
    .meta({ keyedBy: ['sourceSchemaName', 'sourceTable'], change: 'tables' })
}

export const TLS_RULES = pemRules('caCertificate')

export function signInRules({
  authentication = 'basic',
}: {
  readonly authentication?: string | undefined
}): readonly FieldRule[] {
  const because = signsInWith(authentication)
  return authentication === 'basic'
    ? [
        { needs: ['credentials.password'], because },
        { excludes: ['iamRole'], because },
      ]
    : [{ needs: ['iamRole'], because }, ROLE_RULE, { excludes: ['credentials.password'], because }]
}
