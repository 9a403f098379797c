import type { FieldsOf } from '../../../../field-table.ts'
import { Text, z } from '../../../../zod.ts'
import { when, type FieldRules } from '../field-rules.ts'
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

/** Facts 4.7. */
export const MysqlSource = z.strictObject({
  type: z
    .enum(['mysql', 'rdsmysql', 'auroramysql', 'mariadb', 'rdsmariadb'])
    .optional()
    .describe('Which kind of MySQL it is; mysql unless set.'),
  ...connectionShape,
  ...tlsShape,
  serverId: z
    .int()
    .min(1)
    .max(4_294_967_295)
    .optional()
    .describe('Id as a replica, 1 to 4294967295; no other replica of the source may have it.'),
  settings: z
    .strictObject({
      ...syncShape,
      ...loadShape,
      replicationMechanism: z
        .enum(['GTID', 'FILE_POS'])
        .optional()
        .describe('How it follows changes; GTID unless set.'),
      useCompression: z.boolean().optional().describe('Whether the connection is compressed.'),
    })
    .describe('Replication settings.'),
  tableMappings: z
    .array(
      z.strictObject({
        sourceSchemaName: Text.describe('Database of the source table.'),
        sourceTable: Text.describe('Source table.'),
        ...targetShape,
        ...columnsShape,
        partitionKey: PartitionKey,
      }),
    )
    .describe('Which tables go where.'),
})
export type MysqlSource = z.infer<typeof MysqlSource>

export const MYSQL_FIELDS = {
  type: 'text',
  ...CONNECTION_FIELDS,
  ...TLS_FIELDS,
  serverId: 'number',
  settings: {
    fields: {
      ...SYNC_FIELDS,
      ...LOAD_FIELDS,
      replicationMechanism: 'text',
      useCompression: 'flag',
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
    },
  },
} as const satisfies FieldsOf<MysqlSource>

export const mysqlRules: FieldRules<MysqlSource> = (source) => [
  signInRules(source),
  TLS_RULES,
  // R38
  when(source.type === 'mariadb' || source.type === 'rdsmariadb', {
    field: 'settings.replicationMechanism',
    isOneOf: ['GTID'],
    because: `for type ${source.type ?? ''}`,
  }),
]
