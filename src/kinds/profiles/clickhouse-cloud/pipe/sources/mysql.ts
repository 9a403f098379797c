import { deriveForms } from '../../../../field-table.ts'
import { CREDENTIALS_FIELDS } from '../../../../secret-ref.ts'
import { Text, z } from '../../../../zod.ts'
import { when, type FieldRules } from '../field-rules.ts'
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

/** Facts 4.7. */
export const MysqlSource = z.strictObject({
  type: z
    .enum(['mysql', 'rdsmysql', 'auroramysql', 'mariadb', 'rdsmariadb'])
    .optional()
    .describe('Kind of MySQL. Default: mysql.'),
  ...connectionShape,
  ...tlsShape,
  serverId: z
    .int()
    .min(1)
    .max(4_294_967_295)
    .optional()
    .describe('Id as a replica, 1 to 4294967295; no other replica of the source can have it.'),
  settings: z
    .strictObject({
      ...syncShape,
      ...loadShape,
      replicationMechanism: z
        .enum(['GTID', 'FILE_POS'])
        .optional()
        .describe('How it follows changes. Default: GTID.'),
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
        ...partitionShape,
      }),
    )
    .describe('Which tables go where.'),
})
export type MysqlSource = z.infer<typeof MysqlSource>

const { settings, tableMappings } = MysqlSource.shape

export const MYSQL_FIELDS = deriveForms(MysqlSource.shape, {
  credentials: CREDENTIALS_FIELDS,
  caCertificate: 'certificate',
  settings: { fields: deriveForms(settings.shape, { deleteOnMerge: { whenReturned: 'flag' } }) },
  tableMappings: {
    keyedBy: ['sourceSchemaName', 'sourceTable'],
    fields: deriveForms(tableMappings.element.shape, { ...TARGET_FIELDS, ...COLUMNS_FIELDS }),
  },
})

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
