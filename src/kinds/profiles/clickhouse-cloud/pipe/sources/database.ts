import { SecretRef, SensitiveText } from '../../../../secret-ref.ts'
import { HostName, Text, z } from '../../../../zod.ts'
import { pemRules, ROLE_RULE, type FieldRule } from '../field-rules.ts'

/* What several databases have in common. */

const Positive = z.int().min(1)

export const Credentials = z.strictObject({
  username: SensitiveText.describe('User name.'),
  password: SecretRef.optional().describe('Password, for basic.'),
})

export const CREDENTIALS_FIELDS = { requestOnly: { fields: { username: 'text', password: 'text' } } } as const

/** Of Postgres and MySQL. */
export const connectionShape = {
  credentials: Credentials.describe('Credentials of the database. Request only.'),
  host: HostName.describe('Host name or address.'),
  port: z.int().min(1).max(65_535).describe('Port, 1 to 65535.'),
  authentication: z
    .enum(['basic', 'IAM_ROLE'])
    .optional()
    .describe('How it signs in; basic unless set. Upper and lower case count.'),
  iamRole: Text.optional().describe('ARN of the role, for IAM_ROLE.'),
}

export const CONNECTION_FIELDS = {
  credentials: CREDENTIALS_FIELDS,
  host: 'text',
  port: 'number',
  authentication: 'text',
  iamRole: 'text',
} as const

/** Of Postgres, MySQL and MongoDB. */
export const tlsShape = {
  tlsHost: Text.optional().describe('Name that the certificate of the server has, where it is not its host.'),
  caCertificate: SensitiveText.optional().describe('CA certificate of the server (PEM).'),
  disableTls: z.boolean().optional().describe('Whether to connect without TLS.'),
  skipCertVerification: z
    .boolean()
    .optional()
    .describe('Whether the certificate of the server is not checked.'),
}

export const TLS_FIELDS = {
  tlsHost: 'text',
  caCertificate: 'certificate',
  disableTls: 'flag',
  skipCertVerification: 'flag',
} as const

/** Settings of Postgres, MySQL and MongoDB. */
export const syncShape = {
  syncIntervalSeconds: Positive.optional().describe('Seconds between two synchronisations.'),
  pullBatchSize: Positive.optional().describe('Rows pulled in one batch.'),
  replicationMode: z
    .enum(['cdc', 'snapshot', 'cdc_only'])
    .describe(
      'What is copied. cdc: what is there, then its changes; snapshot: what is there, once; cdc_only: changes alone.',
    ),
  snapshotNumRowsPerPartition: z
    .int()
    .min(1_000)
    .optional()
    .describe('Rows in a partition of the snapshot, 1000 or more.'),
  snapshotNumberOfParallelTables: Positive.optional().describe(
    'Tables loaded in parallel during the snapshot.',
  ),
  deleteOnMerge: z.boolean().optional().describe('Whether deleted rows are removed when parts are merged.'),
}

export const SYNC_FIELDS = {
  syncIntervalSeconds: 'number',
  pullBatchSize: 'number',
  replicationMode: 'text',
  snapshotNumRowsPerPartition: 'number',
  snapshotNumberOfParallelTables: 'number',
} as const

/** More settings of Postgres and MySQL. */
export const loadShape = {
  allowNullableColumns: z.boolean().optional().describe('Whether nullable columns stay nullable.'),
  initialLoadParallelism: Positive.optional().describe('Parallel workers of the initial load.'),
}

export const LOAD_FIELDS = { allowNullableColumns: 'flag', initialLoadParallelism: 'number' } as const

/** Of a table mapping, whatever the database. */
export const targetShape = {
  targetTable: Text.describe('Destination table; each is used once in a pipe.'),
  tableEngine: z
    .enum(['MergeTree', 'ReplacingMergeTree', 'Null'])
    .optional()
    .describe('Engine of the destination table.'),
}

export const TARGET_FIELDS = { targetTable: 'text', tableEngine: { whenReturned: 'text' } } as const

/** Of a table mapping of Postgres, MySQL and BigQuery. */
export const columnsShape = {
  excludedColumns: z.array(Text).optional().describe('Columns that are left out.'),
  useCustomSortingKey: z
    .boolean()
    .optional()
    .describe('Whether sortingKeys replace the default sorting key.'),
  sortingKeys: z.array(Text).optional().describe('Columns of the sorting key, in order.'),
}

export const COLUMNS_FIELDS = {
  excludedColumns: 'set',
  useCustomSortingKey: 'flag',
  sortingKeys: 'ordered',
} as const

export const PartitionKey = Text.optional().describe('Column by which the initial load is split.')

/** Of what {@link tlsShape} has. */
export const TLS_RULES = pemRules('caCertificate')

/** R24. */
export function signInRules({
  authentication = 'basic',
}: {
  readonly authentication?: string | undefined
}): readonly FieldRule[] {
  const because = `with authentication ${authentication}`
  return authentication === 'basic'
    ? [
        { needs: ['credentials.password'], because },
        { excludes: ['iamRole'], because },
      ]
    : [{ needs: ['iamRole'], because }, ROLE_RULE, { excludes: ['credentials.password'], because }]
}
