import { Flag, z } from '../../../../zod.ts'
import { when, type FieldRules } from '../field-rules.ts'
import { TLS_RULES, connectionShape, loadShape, signInRules, tableMappings, tlsShape } from './database.ts'

export const MysqlSource = z.strictObject({
  type: z
    .enum(['mysql', 'rdsmysql', 'auroramysql', 'mariadb', 'rdsmariadb'])
    .optional()
    .describe('Kind of MySQL.')
    .meta({ default: 'mysql' }),
  ...connectionShape,
  authentication: connectionShape.authentication.meta({ change: 'connection' }),
  iamRole: connectionShape.iamRole.meta({ change: 'connection' }),
  ...tlsShape,
  serverId: z
    .int()
    .min(1)
    .max(4_294_967_295)
    .optional()
    .describe(
      'Server id of the pipe as a replica, 1 to 4294967295. Each replica of the source needs its own.',
    )
    .meta({ change: 'update' }),
  settings: z
    .strictObject({
      ...loadShape,
      replicationMechanism: z
        .enum(['GTID', 'FILE_POS'])
        .optional()
        .describe('How the pipe follows changes.')
        .meta({ default: 'GTID' }),
      useCompression: Flag.describe('Whether the connection is compressed.').meta({ change: 'update' }),
    })
    .describe('Replication settings.'),
  tableMappings: tableMappings('Database of the source table.'),
})
export type MysqlSource = z.infer<typeof MysqlSource>

export const mysqlRules: FieldRules<MysqlSource> = (source) => [
  signInRules(source),
  TLS_RULES,
  when(source.type === 'mariadb' || source.type === 'rdsmariadb', {
    field: 'settings.replicationMechanism',
    isOneOf: ['GTID'],
    because: `for type ${source.type ?? ''}`,
  }),
]
