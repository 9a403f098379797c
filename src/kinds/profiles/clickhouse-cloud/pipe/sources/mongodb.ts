import { LoginFields, SensitiveText } from '../../../../secret-ref.ts'
import { Flag, Text, z } from '../../../../zod.ts'
import { TLS_RULES, loadShape, syncShape, targetShape, tlsShape } from './database.ts'
import type { FieldRules } from '../field-rules.ts'

export const MongodbSource = z.strictObject({
  credentials: LoginFields.optional()
    .describe('Credentials of the database. Write-only.')
    .meta({ change: 'connection' }),
  uri: SensitiveText.describe(
    'Address: mongodb:// with one or more hosts, or mongodb+srv://. Pipewright never shows it.',
  ).meta({ form: 'address', identifies: true, change: 'connection' }),
  readPreference: z
    .enum(['primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'])
    .describe('Member of the replica set to read from.')
    .meta({ change: 'connection' }),
  ...tlsShape,
  settings: z
    .strictObject({
      ...syncShape,
      initialLoadParallelism: loadShape.initialLoadParallelism,
      useJsonNativeFormat: Flag.describe('Whether documents are kept as JSON.'),
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
    .describe('Which collections go where.')
    .meta({ keyedBy: ['sourceDatabaseName', 'sourceCollection'], change: 'tables' }),
})
export type MongodbSource = z.infer<typeof MongodbSource>

/** Matches a password in the URI. Digits after a colon, up to `,`, `/`, `?` or the end, are a port. */
const PASSWORD = /^[a-z+]+:\/\/[^:?[]*:(?:[^?]*|(?!\d*(?:[,/?]|$)).*)@/i

const SECRET_OPTION = /[?&;]\w*password=|AWS_SESSION_TOKEN(?::|%3A)/i

export const mongodbRules: FieldRules<MongodbSource> = () => [
  { field: 'uri', begins: ['mongodb://', 'mongodb+srv://'] },
  { field: 'uri', lacks: PASSWORD, is: 'a password', instead: 'credentials.password' },
  { field: 'uri', lacks: SECRET_OPTION, is: 'a secret', instead: 'uri' },
  TLS_RULES,
]
