import type { FieldsOf } from '../../../../field-table.ts'
import { SecretRef, SensitiveText } from '../../../../secret-ref.ts'
import { Text, z } from '../../../../zod.ts'
import {
  CREDENTIALS_FIELDS,
  SYNC_FIELDS,
  TARGET_FIELDS,
  TLS_FIELDS,
  TLS_RULES,
  syncShape,
  targetShape,
  tlsShape,
} from './database.ts'
import type { FieldRules } from '../field-rules.ts'

/** Facts 4.8. */
export const MongodbSource = z.strictObject({
  credentials: z
    .strictObject({
      username: SensitiveText.describe('User name.'),
      password: SecretRef.describe('Password, as a reference to a mounted secret.'),
    })
    .optional()
    .describe('Credentials of the database. Request only.'),
  uri: SensitiveText.describe(
    'Address: mongodb:// with one or more hosts, or mongodb+srv://. It is kept from every output.',
  ),
  readPreference: z
    .enum(['primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'])
    .describe('From which member it reads.'),
  ...tlsShape,
  settings: z
    .strictObject({
      ...syncShape,
      useJsonNativeFormat: z.boolean().optional().describe('Whether documents are kept as JSON.'),
    })
    .describe('Replication settings.'),
  tableMappings: z
    .array(
      z.strictObject({
        sourceDatabaseName: Text.describe('Database of the collection.'),
        sourceCollection: Text.describe('Collection.'),
        ...targetShape,
      }),
    )
    .describe('Which collections go where.'),
})
export type MongodbSource = z.infer<typeof MongodbSource>

export const MONGODB_FIELDS = {
  credentials: CREDENTIALS_FIELDS,
  uri: 'text',
  readPreference: 'text',
  ...TLS_FIELDS,
  settings: {
    fields: { ...SYNC_FIELDS, deleteOnMerge: 'flag', useJsonNativeFormat: 'flag' },
  },
  tableMappings: {
    keyedBy: ['sourceDatabaseName', 'sourceCollection'],
    fields: { sourceDatabaseName: 'text', sourceCollection: 'text', ...TARGET_FIELDS },
  },
} as const satisfies FieldsOf<MongodbSource>

export const mongodbRules: FieldRules<MongodbSource> = () => [
  { field: 'uri', begins: ['mongodb://', 'mongodb+srv://'] },
  TLS_RULES,
]
